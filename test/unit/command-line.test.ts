import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Options, openShell, openWarmShell, type Shell } from '../support/command-line.ts'
import { type FakeService, startFakeService } from './fake-service.ts'

let service: FakeService
let alone: Shell
let warm: Shell

beforeAll(async () => {
  service = await startFakeService({})
  const settings = { SATCHEL_URL: service.url, SATCHEL_KEY: 'key' }
  alone = openShell(settings)
  warm = openWarmShell(settings)
  for (const { home } of [alone, warm]) {
    mkdirSync(join(home, 'inner'))
    writeFileSync(join(home, 'inner/a.txt'), 'a')
  }
})
afterAll(async () => {
  alone?.close()
  warm?.close()
  await service?.close()
})

const cases: [string[], ((shell: Shell) => Options)?][] = [
  [['--version']],
  [['quota']],
  [['nonsense']],
  [['--json', 'ls', '--nonsense']],
  [['ls'], () => ({ env: { SATCHEL_URL: 'nonsense' } })],
  [['ls', '--service', 'http://127.0.0.1:2'], () => ({ env: { SATCHEL_SESSION: 's' } })],
  [['login', '--json'], () => ({ stdin: 'a key\n' })],
  [['login', '--json'], () => ({ stdin: '' })],
  [['put', 'a.txt', '--retries', '0']],
  [['put', 'a.txt', '--retries', '0'], ({ home }) => ({ cwd: join(home, 'inner') })],
  [['quota', '--json']],
  [['whoami', '--json']],
]

const end = async (shell: Shell, [args, options]: (typeof cases)[number]) => {
  const { code, out, err } = await shell.satchel(args, options?.(shell))
  return { args, code, out: out.replaceAll(shell.home, '~'), err }
}

describe('A warm process for many command lines', () => {
  it('gives the same results as separate processes, one after another or in parallel', async () => {
    const wanted = await Promise.all(cases.map(each => end(alone, each)))
    expect(new Set(wanted.map(({ code }) => code))).toEqual(new Set([0, 1, 2, 3, 7]))
    for (const each of cases) expect(await end(warm, each)).toEqual(wanted[cases.indexOf(each)])
    expect(await Promise.all(cases.map(each => end(warm, each)))).toEqual(wanted)
  })
})
