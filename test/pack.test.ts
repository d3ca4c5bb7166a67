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
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../db/index.ts'
import { readConfig } from '../src/config/config.ts'
import { rest, signInTo } from './harness.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534
const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }

/** Packing builds anew what other tests are using, so it is done in a copy. */
const notSources = /^(\.git|data|dist|test|node_modules)$/

let dir: string
/** Where npm has installed the packages, and this one among them. */
let modules: string
let home: string
let files: string[]

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-pack-'))
  const sources = join(dir, 'sources')
  cpSync('.', sources, { recursive: true, filter: path => !notSources.test(relative('.', path)) })
  symlinkSync(resolve('node_modules'), join(sources, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', dir], {
    cwd: sources,
  })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  files = packed.files.map(file => file.path)

  const project = join(dir, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', ['install', ...quiet, join(dir, packed.filename)], { cwd: project })
  modules = join(project, 'node_modules')
  home = join(modules, 'satchel')
  if (isRoot) chmodSync(dir, 0o755)
}, 300_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('What npm pack makes', () => {
  it('holds what runs, its licence and its documents, and no tests', () => {
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
          !/^(dist\/(console|pages|db|schema|src)|docs|docker\/systemd|node_modules)\/|^[A-Za-z]+\.(md|json)$|^LICENSE$/.test(
            path,
          ),
      ),
    ).toEqual([])
    expect(manifest.license).toBe('Apache-2.0')
  })

  it('has every command that it names', () => {
    for (const path of Object.values<string>(manifest.bin)) {
      expect(files).toContain(path)
      expect(readFileSync(join(home, path), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    }
  })

  it('is installed with one copy of graphql', () => {
    const copies = globSync('**/graphql/package.json', { cwd: modules, exclude: ['**/dist/**'] })
    expect(copies).toEqual(['graphql/package.json'])
    const { version } = JSON.parse(readFileSync(join(modules, 'graphql/package.json'), 'utf8'))
    expect(version).toBe(manifest.dependencies.graphql)
    expect(existsSync(join(home, 'node_modules/graphql-rate-limit'))).toBe(true)
  })

  it('installs commands', async () => {
    const { stdout } = await run(join(modules, '.bin/satchel'), ['--version'], { env })
    expect(stdout.trim()).toBe(manifest.version)
  })

  it('names the version of Node.js that it needs', async () => {
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

  /**
   * As root, the service runs as another user, who owns only its data: it cannot write anywhere
   * else.
   */
  it(`serves${isRoot ? ' a user who may write only to DATA_DIR and TMPDIR' : ''}`, async () => {
    const data = mkdtempSync(join(dir, 'data-'))
    const temporary = mkdtempSync(join(dir, 'tmp-'))
    if (isRoot) for (const folder of [data, temporary]) chownSync(folder, NOBODY, NOBODY)
    const child = spawn(process.execPath, [join(modules, '.bin/satchel-server')], {
      cwd: data,
      env: { ...env, DATA_DIR: data, TMPDIR: temporary, PORT: '0', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    })
    const ended = once(child, 'exit')
    try {
      let said = ''
      child.stdout.on('data', chunk => {
        said += chunk
      })
      const port = await until(
        () => /Satchel is up at http:\/\/localhost:(\d+)/.exec(said)?.[1],
        30_000,
      )
      const url = `http://127.0.0.1:${port}`
      expect((await rest(url, 'GET', '/healthz')).response).toMatchObject({
        version: manifest.version,
      })
      for (const path of ['/', '/login', '/api/docs', '/api/openapi.json'])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200])

      const db = openDatabase(readConfig({ DATA_DIR: data }).database, { pool: 2 })
      const alice = await signInTo(db, url, 'alice').finally(() => db.close())
      const bytes = randomBytes(3_000_000)
      await alice.upload('docs/sea.bin', bytes)
      const { response } = await alice.rest(
        'POST',
        '/api/user/private/download_token?file=docs/sea.bin',
      )
      const { headers } = await alice.rest(
        'GET',
        `/api/d/private/${response.private_download_token}`,
      )
      const downloaded = await fetch(new URL(headers.get('location') ?? '', url))
      expect(Buffer.from(await downloaded.arrayBuffer()).equals(bytes)).toBe(true)
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  }, 60_000)
})
