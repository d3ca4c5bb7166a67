// Prepares the folder for `npm pack`, and restores it with `--restore`. Plain JavaScript: any
// version of Node.js may run npm.
//
// npm ignores our `overrides` when others install the package, so the package bundles
// graphql-rate-limit with the overrides applied. npm treats a package as bundled, and does not
// install it, if a bundled package depends on it and is in the same folder. So all dependencies of
// graphql-rate-limit are below it, and the manifests there name only each other. graphql itself
// must be installed.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** swagger-ui-dist depends on a package that reports each installation to a company. */
const bundled = ['graphql-rate-limit', 'swagger-ui-dist']
/** There must be only one copy of graphql, and nothing loads the others. */
const outside = /^(graphql$|@types\/|@scarf\/)/
/** The originals of the files that are replaced while npm packs. */
const originals = 'node_modules/.cache/pack'
const replaced = ['package.json', ...bundled.map(name => `node_modules/${name}`)]

const manifestOf = folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const write = (folder, manifest) =>
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)

/** The folder of a package, resolved from `from`. */
function find(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(found)) return found
    if (folder === '.') return undefined
  }
}

/** The names and folders of the dependencies of a package. */
const neededBy = folder => {
  const { dependencies, peerDependencies } = manifestOf(folder)
  return Object.keys({ ...peerDependencies, ...dependencies }).flatMap(name => {
    const found = outside.test(name) ? undefined : find(name, folder)
    return found ? [[name, found]] : []
  })
}

/** Copies a package, with all its dependencies below it. */
function copyClosed(root, to) {
  const folders = new Set([root])
  for (const folder of folders) for (const [, needed] of neededBy(folder)) folders.add(needed)
  for (const folder of folders) {
    const copy = folder === root ? to : join(to, folder)
    const own = join(folder, 'node_modules')
    const filter = path => path !== own && !path.endsWith('.map')
    cpSync(folder, copy, { recursive: true, dereference: true, filter })
    const { dependencies: _1, peerDependencies: _2, ...manifest } = manifestOf(folder)
    for (const key of [
      'peerDependenciesMeta',
      'optionalDependencies',
      'devDependencies',
      'scripts',
    ])
      delete manifest[key]
    const versions = neededBy(folder).map(([name, at]) => [name, manifestOf(at).version])
    write(copy, { ...manifest, dependencies: Object.fromEntries(versions) })
  }
}

/**
 * The fields of our manifest that an installation reads. With a `prepare` script, npm would ask
 * whether it may run.
 */
function ownManifest() {
  const manifest = { ...manifestOf('.'), bundleDependencies: bundled }
  for (const key of ['devDependencies', 'workspaces', 'scripts', 'overrides', 'allowScripts'])
    delete manifest[key]
  delete manifest.scarfSettings
  return manifest
}

function restore() {
  for (const path of replaced) {
    const original = join(originals, path)
    if (!existsSync(original)) continue
    rmSync(path, { recursive: true, force: true })
    renameSync(original, path)
  }
  rmSync(originals, { recursive: true, force: true })
}

restore()
if (!process.argv.includes('--restore')) {
  const made = join(originals, 'made')
  mkdirSync(join(made, 'node_modules'), { recursive: true })
  mkdirSync(join(originals, 'node_modules'))
  write(made, ownManifest())
  for (const name of bundled)
    copyClosed(join('node_modules', name), join(made, 'node_modules', name))
  for (const path of replaced) {
    renameSync(path, join(originals, path))
    renameSync(join(made, path), path)
  }
}
