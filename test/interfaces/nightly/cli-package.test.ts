import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

const run = promisify(execFile)
const { version } = JSON.parse(readFileSync('src/cli/package.json', 'utf8'))

let t: TestApp
let alice: Person
let dir: string
let sources: string

/** Builds both packages in a copy of the repository, which no other test reads. */
beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  dir = mkdtempSync(join(tmpdir(), 'satchel-cli-package-'))
  sources = join(dir, 'sources')
  const needed =
    /^(package\.json|LICENSE|src(\/(cli|upload-engine)(\/.*)?|\/runtime(\/(is-running|open-browser)\.ts)?|\/values(\/tag-key\.ts)?)?)?$/
  cpSync('.', sources, {
    recursive: true,
    filter: path =>
      needed.test(relative('.', path)) && !/^src\/cli\/(dist|LICENSE)/.test(relative('.', path)),
  })
  mkdirSync(join(sources, 'node_modules'))
  for (const name of ['vite', 'postject', 'node', ...dependencies()])
    link(name, join(sources, 'node_modules'))
})
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await t.stop()
})

const dependencies = () =>
  Object.keys(JSON.parse(readFileSync('src/cli/package.json', 'utf8')).dependencies)

function link(name: string, modules: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(resolve('node_modules', name), join(modules, name))
}

/** In an empty home, checks the version and the help, and uploads and downloads a file. */
async function use(program: string, args: string[], PATH: string): Promise<void> {
  const home = mkdtempSync(join(dir, 'home-'))
  const env = {
    PATH,
    HOME: home,
    SATCHEL_URL: t.url,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  }
  const satchel = async (...words: string[]) =>
    (await run(program, [...args, ...words], { env, cwd: home, encoding: 'utf8' })).stdout
  expect(await satchel('--version')).toBe(`${version}\n`)
  expect(await satchel('put', '--help')).toContain('Usage: satchel put')
  const bytes = randomBytes(5_000_000)
  writeFileSync(join(home, 'sea.bin'), bytes)
  await satchel('put', 'sea.bin', '--to', 'docs', '--replace')
  expect(await satchel('ls', 'docs')).toContain('sea.bin')
  await satchel('get', 'docs/sea.bin', '-o', 'back.bin')
  expect(readFileSync(join(home, 'back.bin')).equals(bytes)).toBe(true)
  expect(await satchel('completion', 'bash')).toContain('complete -o default -F _satchel satchel')
  expect(await satchel('complete', '--shell', 'zsh', '--', 'get', 'docs/s')).toContain(
    'docs/sea.bin',
  )
  const wrong = run(program, [...args, '--json', 'nonsense'], { env, cwd: home })
  await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('"USAGE"') })
}

describe('The package satchel-cli', () => {
  it('runs with its own dependencies only', async () => {
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', dir], {
      cwd: join(sources, 'src/cli'),
    })
    const [{ filename, files }] = JSON.parse(stdout) as [
      { filename: string; files: { path: string }[] },
    ]
    const paths = files.map(file => file.path)
    expect(paths).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/satchel.js']),
    )
    expect(
      paths.filter(path => !/^(LICENSE|README\.md|package\.json|dist\/[\w-]+\.js)$/.test(path)),
    ).toEqual([])

    // The layout that npm installs.
    const modules = join(dir, 'installed/node_modules')
    mkdirSync(modules, { recursive: true })
    await run('tar', ['-xzf', join(dir, filename), '-C', modules])
    await run('mv', [join(modules, 'package'), join(modules, 'satchel-cli')])
    for (const name of dependencies()) link(name, modules)
    const program = join(modules, 'satchel-cli/dist/satchel.js')
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    await use(process.execPath, [program], dirname(process.execPath))
  })
})

describe('The single executable', () => {
  it('runs without Node.js', async () => {
    await run(process.execPath, ['src/cli/build/binary.ts'], { cwd: sources })
    const made = join(sources, 'dist/binary')
    expect(readFileSync(join(made, 'licenses.md'), 'utf8')).toMatch(/^## commander/m)
    await use(join(made, 'satchel'), [], '/nonexistent')
  })
})
