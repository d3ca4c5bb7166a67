import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { rest } from './harness.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

/** Packing builds anew what other tests are using, so it is done in a copy. */
const notSources = /^(\.git|data|dist|test|node_modules)$/

let dir: string
let home: string
let files: string[]

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-pack-'))
  const sources = join(dir, 'sources')
  cpSync('.', sources, { recursive: true, filter: path => !notSources.test(relative('.', path)) })
  symlinkSync(resolve('node_modules'), join(sources, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', dir], { cwd: sources })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  files = packed.files.map(file => file.path)
  await run('tar', ['-xzf', join(dir, packed.filename), '-C', dir])
  home = join(dir, 'package')
  symlinkSync(resolve('node_modules'), join(home, 'node_modules'))
}, 120_000)
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
          !/^(dist\/(console|pages|db|schema|src)|docs|docker\/systemd)\/|^[A-Za-z]+\.(md|json)$|^LICENSE$/.test(path),
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

  it('installs commands', async () => {
    const prefix = join(dir, 'prefix')
    await run('npm', ['install', '--global', '--prefix', prefix, '--offline', '--ignore-scripts', home])
    const { stdout } = await run(join(prefix, 'bin/satchel'), ['--version'])
    expect(stdout.trim()).toBe(manifest.version)
  })

  it('serves', async () => {
    const data = mkdtempSync(join(dir, 'data-'))
    const child = spawn(process.execPath, [join(home, manifest.bin['satchel-server'])], {
      cwd: data,
      env: { PATH: process.env.PATH ?? '', DATA_DIR: data, PORT: '0', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      let said = ''
      child.stdout.on('data', chunk => {
        said += chunk
      })
      const port = await until(() => /Satchel is up at http:\/\/localhost:(\d+)/.exec(said)?.[1], 30_000)
      const url = `http://127.0.0.1:${port}`
      expect((await rest(url, 'GET', '/healthz')).response).toMatchObject({ version: manifest.version })
      for (const path of ['/', '/login', '/api/docs', '/api/openapi.json'])
        expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
    } finally {
      child.kill('SIGTERM')
    }
  })
})
