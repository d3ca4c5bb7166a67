import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

/**
 * Builds the programs of the service for `.ci/run` into dist/tested, each with nearly all its
 * modules in a few files. Tests start them by TEST_BUNDLE. A bundled process starts in half of the
 * processor time.
 */
const root = resolve(import.meta.dirname, '../..')
const outDir = join(root, 'dist/tested')

/** Native, rarely loaded and missing packages are not bundled. */
const packages =
  /^(@aws-sdk|@azure|@graphql-yoga\/render-graphiql|@hyzyla\/pdfium|@node-rs|@opentelemetry|oidc-provider|pg-hstore|pdfjs-dist|pino-pretty|sharp|swagger-ui-dist|unpdf)(\/|$)/
const isExternal = id => id.startsWith('node:') || builtinModules.includes(id) || packages.test(id)

/** Modules still find the files beside their sources. */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (!code.includes('import.meta.')) return undefined
    const values = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id }
    return code.replaceAll(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) =>
      JSON.stringify(values[name]),
    )
  },
}

await build({
  root,
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  plugins: [ownPlaces],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir,
    emptyOutDir: true,
    target: 'node24',
    minify: false,
    rolldownOptions: {
      external: isExternal,
      input: Object.fromEntries(
        ['main', 'doctor', 'admin'].map(name => [name, join(root, `src/${name}.ts`)]),
      ),
      output: { format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
    },
  },
})

// Node.js saves its compile cache when a process exits by itself, but tests kill most processes.
const folder = mkdtempSync(join(tmpdir(), 'satchel-bundle-'))
const settings = {
  DATA_DIR: folder,
  PORT: '0',
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
}
const service = spawn(process.execPath, [join(outDir, 'main.mjs')], {
  cwd: folder,
  env: { PATH: process.env.PATH, ...settings },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(service, 'exit')
let isUp = false
for await (const line of createInterface(service.stdout)) {
  const port = /Satchel is up at http:\/\/localhost:(\d+)/.exec(line)?.[1]
  if (!port) continue
  isUp = true
  for (const path of ['/readyz', '/api/files/tree', '/graphql?query={__typename}', '/login'])
    await fetch(`http://127.0.0.1:${port}${path}`).then(answer => answer.text())
  break
}
service.kill()
await ended
rmSync(folder, { recursive: true })
if (!isUp) throw new Error('What was bundled does not start.')
