import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, normalize, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'

const jsonOf = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const namesIn = ({ dependencies = {}, devDependencies = {} }) =>
  Object.keys({ ...dependencies, ...devDependencies })
const tools = namesIn(jsonOf('test/package.json'))

/**
 * All modules that a file loads directly or indirectly: files of this project, and names of
 * packages.
 */
function loadedBy(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded
  loaded.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\b(?! type)[^'"]*?\bfrom '([^']+)'|^import '([^']+)'|\b(?:import|resolve)\('([^']+)'\)/gm,
  )
  for (const [, from, bare, dynamic] of imports) {
    const name = from ?? bare ?? dynamic ?? ''
    const path = normalize(join(dirname(file), name))
    if (!name.startsWith('.')) loaded.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
    else if (/\.[cm]?tsx?$|\.mjs$/.test(path) && existsSync(path)) loadedBy(path, loaded)
  }
  return loaded
}

describe('The packages of test/package.json', () => {
  const toolsOf = (files: string[]) => {
    const loaded = new Set<string>()
    for (const file of files) loadedBy(file, loaded)
    return tools.filter(name => loaded.has(name))
  }

  it('are needed only by browser tests: npm test and npm run test:all run without them', async () => {
    expect(toolsOf(['test/browser/nightly/looks.test.ts'])).toEqual(['axe-core', 'playwright-core'])
    const suites: string = resolve('test/runner/suites.mjs')
    const all: { testMatch: string[] }[] = (await import(suites)).suites.all
    const globs = all.flatMap(({ testMatch }) =>
      testMatch.map(glob => glob.replace('<rootDir>/', '')),
    )
    const files = globSync([...new Set(globs)])
    expect(files.length).toBeGreaterThan(150)
    expect(toolsOf([...files, ...globSync('test/setup/*.ts'), 'test/jest.config.mjs'])).toEqual([])
  })

  it('are declared only there, so that a test loads the same copies as the service', () => {
    expect(tools.filter(name => namesIn(jsonOf('package.json')).includes(name))).toEqual([])
    const installed = Object.keys(jsonOf('test/package-lock.json').packages).flatMap(
      path => /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? [],
    )
    expect(installed.sort()).toEqual(tools.sort())
  })
})

describe('package.json', () => {
  it('bundles no dependency, because npm install with overrides would never finish', () => {
    expect(jsonOf('package.json')).not.toHaveProperty('bundleDependencies')
  })
})

describe('src/cli/package.json', () => {
  const [root, own] = [jsonOf('package.json'), jsonOf('src/cli/package.json')]

  it('lists exactly the packages that the command line loads, in the versions of the service', () => {
    const loaded = [...loadedBy('src/cli/main.ts')].filter(name => !/^(node:|src\/|#)/.test(name))
    expect(Object.keys(own.dependencies)).toEqual(loaded.sort())
    const versions = loaded.map(name => [name, root.dependencies[name]])
    expect(own.dependencies).toEqual(Object.fromEntries(versions))
  })

  it('has the version, the licence and the engine of the service', () => {
    const { version, license, engines, publishConfig } = root
    expect(own).toMatchObject({ version, license, engines, publishConfig })
  })
})

describe('test/tools/install.mjs', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-install-'))
    mkdirSync(join(dir, 'node_modules'))
    writeFileSync(join(dir, 'npm'), '#!/bin/sh\necho "$@" >>"$NPM_CALLS"\nexit $NPM_STATUS\n')
    chmodSync(join(dir, 'npm'), 0o755)
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  const lock = {
    '': { name: 'tools' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/of-another-platform': { version: '1.0.0', optional: true },
    'node_modules/of-this-platform': { version: '1.0.0', optional: true },
  }
  const noted = {
    'node_modules/a': { version: '1.0.0' },
    'node_modules/of-this-platform': { version: '1.0.0' },
  }
  const newer = { version: '1.0.1' }

  /** Runs it with a fake npm. Returns the arguments of npm and the result. */
  function install(installed: object | undefined, NPM_STATUS = '0') {
    writeFileSync(join(dir, 'package-lock.json'), JSON.stringify({ packages: lock }))
    if (installed)
      writeFileSync(
        join(dir, 'node_modules/.package-lock.json'),
        JSON.stringify({ packages: installed }),
      )
    const NPM_CALLS = join(dir, 'calls')
    const env = {
      ...process.env,
      PATH: `${dir}${delimiter}${process.env.PATH}`,
      NPM_CALLS,
      NPM_STATUS,
    }
    const { status } = spawnSync(process.execPath, [resolve('test/tools/install.mjs'), dir], {
      env,
    })
    return { status, asked: existsSync(NPM_CALLS) ? readFileSync(NPM_CALLS, 'utf8').trim() : '' }
  }

  it('installs nothing when everything is installed', () => {
    expect(install(noted)).toEqual({ status: 0, asked: '' })
  })

  it.each([
    ['nothing exists', undefined],
    ['a package is missing', { 'node_modules/of-this-platform': { version: '1.0.0' } }],
    ['a package is of another version', { ...noted, 'node_modules/a': newer }],
    [
      'an optional package is of another version',
      { ...noted, 'node_modules/of-this-platform': newer },
    ],
  ])('installs when %s', (_, installed) => {
    expect(install(installed)).toEqual({ status: 0, asked: `ci --prefix ${dir}` })
  })

  it('fails when the installation fails', () => {
    expect(install(undefined, '7')).toMatchObject({ status: 7 })
  })
})
