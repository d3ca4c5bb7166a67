import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import { rest, signInTo } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534
const env = {
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  // The registry may have a certificate of a private CA.
  NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
}

/** Packing rebuilds files that other tests are using, so it runs in a copy. */
const notSources = /^(\.git|data|dist|test|node_modules)$/

let dir: string
/** The folder in which npm has installed this package and its dependencies. */
let modules: string
let home: string
let files: string[]
let tarball: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-pack-'))
  const sources = join(dir, 'sources')
  cpSync('.', sources, { recursive: true, filter: path => !notSources.test(relative('.', path)) })
  // Packing temporarily replaces some packages.
  mkdirSync(join(sources, 'node_modules'))
  for (const name of readdirSync('node_modules'))
    if (name !== '.cache')
      symlinkSync(resolve('node_modules', name), join(sources, 'node_modules', name))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', dir], {
    cwd: sources,
  })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  files = packed.files.map(file => file.path)

  for (const [name, version] of Object.entries(npms))
    await run('npm', ['install', ...quiet, '--prefix', join(dir, name), `npm@${version}`])
  tarball = join(dir, packed.filename)
  modules = join(await installs.locally('npm 11'), 'node_modules')
  home = join(modules, 'satchel')
  if (isRoot) chmodSync(dir, 0o755)
}, 300_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const quiet = ['--prefer-offline', '--no-audit', '--no-fund']
const npms = { 'npm 10': '10.9.9', 'npm 11': '11.19.1' }
type Npm = keyof typeof npms
const programOf = (npm: Npm, name = 'npm') => join(dir, npm, 'node_modules/.bin', name)

/** Ways to install the package. Each returns the installation folder. */
const installs = {
  async locally(npm: Npm) {
    const project = mkdtempSync(join(dir, 'project-'))
    writeFileSync(join(project, 'package.json'), '{}')
    await run(programOf(npm), ['install', ...quiet, tarball], { cwd: project, env })
    return project
  },
  async globally(npm: Npm) {
    const prefix = mkdtempSync(join(dir, 'prefix-'))
    const { stderr } = await run(
      programOf(npm),
      ['install', ...quiet, '--global', '--prefix', prefix, tarball],
      { env },
    )
    const warnings = stderr.split('\n').filter(line => !line.includes('Unknown user config'))
    expect(warnings.join('\n')).toBe('')
    return prefix
  },
}

/**
 * Starts the service, and stops it after `use`. As root, it runs as a user who may write only to
 * DATA_DIR and TMPDIR.
 */
async function serve(
  command: string[],
  settings: Record<string, string>,
  use: (url: string, data: string) => Promise<void>,
) {
  const data = mkdtempSync(join(dir, 'data-'))
  const temporary = mkdtempSync(join(dir, 'tmp-'))
  const asNobody = isRoot && !command.includes('--package')
  if (asNobody) for (const folder of [data, temporary]) chownSync(folder, NOBODY, NOBODY)
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: data,
    env: { ...env, DATA_DIR: data, TMPDIR: temporary, PORT: '0', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    ...(asNobody ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  const ended = once(child, 'exit')
  try {
    let said = ''
    child.stdout.on('data', chunk => {
      said += chunk
    })
    const port = await until(
      () => /Satchel is up at http:\/\/localhost:(\d+)/.exec(said)?.[1],
      120_000,
    )
    await use(`http://127.0.0.1:${port}`, data)
  } finally {
    // npx starts a shell, which starts the service.
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    await ended
  }
}

/** Signs in, uploads a file, shares it and downloads it. */
async function useService(url: string, data: string) {
  expect((await rest(url, 'GET', '/healthz')).response).toMatchObject({
    version: manifest.version,
  })
  for (const path of ['/', '/login', '/api/docs', '/api/docs/swagger-ui-bundle.js'])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 200])

  const db = openDatabase(readConfig({ DATA_DIR: data }).database, { pool: 2 })
  const alice = await signInTo(db, url, 'alice').finally(() => db.close())
  const bytes = randomBytes(3_000_000)
  await alice.upload('docs/sea.bin', bytes)
  // The first counted request loads graphql-rate-limit.
  const shared = await alice.rest('POST', '/api/files/quick_share', {
    json: { object: 'docs/sea.bin' },
  })
  expect(shared.status).toBe(200)
  const { response } = await alice.rest(
    'POST',
    '/api/user/private/download_token?file=docs/sea.bin',
  )
  const { headers } = await alice.rest('GET', `/api/d/private/${response.private_download_token}`)
  const downloaded = await fetch(new URL(headers.get('location') ?? '', url))
  expect(Buffer.from(await downloaded.arrayBuffer()).equals(bytes)).toBe(true)
}

const copiesOfGraphql = (folder: string) =>
  globSync('**/graphql/package.json', { cwd: folder, exclude: ['**/dist/**'] }).map(
    path => JSON.parse(readFileSync(join(folder, path), 'utf8')).version,
  )

describe.each(Object.keys(npms) as Npm[])('The package, installed by %s', npm => {
  it('serves after a global installation without warnings', async () => {
    const prefix = await installs.globally(npm)
    expect(copiesOfGraphql(prefix)).toEqual([manifest.dependencies.graphql])
    if (isRoot) chmodSync(prefix, 0o755)
    await serve([join(prefix, 'bin/satchel-server')], {}, useService)
    const sbom = join(prefix, 'lib/node_modules/satchel/docker/sbom.mjs')
    const { stdout } = await run(process.execPath, [sbom], { env, maxBuffer: 2 ** 26 })
    const { components } = JSON.parse(stdout) as { components: { name: string }[] }
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['graphql', 'graphql-rate-limit', 'mysql2']))
    expect(names).not.toContain('jest')
  }, 300_000)

  it('serves after a local installation', async () => {
    const project = npm === 'npm 11' ? dirname(modules) : await installs.locally(npm)
    expect(copiesOfGraphql(project)).toEqual([manifest.dependencies.graphql])
    if (isRoot) chmodSync(project, 0o755)
    await serve([join(project, 'node_modules/.bin/satchel-server')], {}, useService)
  }, 300_000)

  it('serves through npx', async () => {
    const cache = mkdtempSync(join(dir, 'npx-'))
    const npx = [programOf(npm, 'npx'), '--yes', '--package', tarball, '--', 'satchel-server']
    await serve(npx, { npm_config_cache: cache }, useService)
    expect(copiesOfGraphql(cache)).toEqual([manifest.dependencies.graphql])
  }, 300_000)
})

describe('The package of npm pack', () => {
  it('contains the code, licence and documents, and no tests', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'dist/console/index.html',
        'dist/pages/manifest.json',
        'LICENSE',
        'README.md',
        'CHANGELOG.md',
        'docs/contract.md',
      ]),
    )
    expect(
      files.filter(
        path =>
          !/^(dist\/(console|pages|db|schema|src)|docs|docker|node_modules)\/|^[A-Za-z]+\.(md|json)$|^LICENSE$/.test(
            path,
          ),
      ),
    ).toEqual([])
    expect(manifest.license).toBe('Apache-2.0')
  })

  it('contains every command that it declares', () => {
    for (const path of Object.values<string>(manifest.bin)) {
      expect(files).toContain(path)
      expect(readFileSync(join(home, path), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    }
  })

  it('installs commands', async () => {
    const { stdout } = await run(join(modules, '.bin/satchel'), ['--version'], { env })
    expect(stdout.trim()).toBe(manifest.version)
    for (const name of ['satchel-server', 'satchel-doctor', 'satchel-admin']) {
      const help = await run(join(modules, '.bin', name), ['--help'], { env })
      expect(help.stdout).toMatch(new RegExp(`^Usage: ${name} `))
    }
  })

  it('names the required version of Node.js', async () => {
    const older =
      'Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.1.0"}})'
    const server = run(process.execPath, [
      '--import',
      `data:text/javascript,${older}`,
      join(modules, '.bin/satchel-server'),
    ])
    await expect(server).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Satchel cannot start:\n {2}- It needs Node\.js 24 or newer, and this is 20\.1\.0\..*\n$/,
      ),
    })
  })

  it('contains every file that docs/operate.md mentions', () => {
    const guide = readFileSync('docs/operate.md', 'utf8')
    const named = [
      ...guide.matchAll(/(?<![\w-])docker\/[\w./-]*\w/g),
      ...guide.matchAll(/lib\/node_modules\/satchel\/([\w./-]*\w)/g),
    ].map(([whole, path = whole]) => path)
    expect(named).toEqual(
      expect.arrayContaining(['docker/systemd/satchel.service', 'docker/alerts.yml']),
    )
    // Operators copy satchel.env.example to this file, which contains their secrets.
    const missing = named.filter(path => !existsSync(join(home, path)))
    expect(new Set(missing)).toEqual(new Set(['docker/satchel.env']))
    expect(readFileSync(join(home, 'docker/grafana-dashboard.json'), 'utf8')).toContain('satchel')
  })
})
