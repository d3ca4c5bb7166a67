import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { found, put } from '../../support/builders.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import type { Anything } from '../../support/event-model.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

let t: TestApp
let alice: Person
let shell: Shell
let garden: string

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  garden = await found(alice)
  shell = openWarmShell({
    SATCHEL_URL: t.url,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  })
  await alice.upload('a.txt', 'a')
  await put(alice, garden, '/plan.txt')
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

const read = (name: string) => readFileSync(join(shell.home, name), 'utf8')
const linesOf = (text: string): Anything[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
const pathsOf = (events: Anything[]) => events.map(({ details }) => details.path)

/**
 * Starts to follow, and waits until the command is connected. Returns its output and a function
 * that stops it.
 */
async function follow(...args: string[]) {
  const child = shell.begin(['events', '--follow', ...args])
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  const over = ended(child)
  return {
    out: () => out,
    over,
    async stop() {
      child.kill('SIGINT')
      return over
    },
  }
}

describe('satchel events', () => {
  it('lists the events of your files or of a workspace, with the next cursor', async () => {
    const { events, cursor } = await shell.json('events')
    expect(events).toEqual((await alice.rest('GET', '/api/events')).response.events)
    expect(pathsOf(events)).toEqual(['a.txt'])
    expect(await shell.json('events', '--after', cursor)).toEqual({ events: [], cursor })
    expect(pathsOf((await shell.json('events', garden)).events)).toContain('/plan.txt')
    const { out } = await shell.satchel(['events', 'garden'])
    expect(out).toMatch(/file\.created +\/plan\.txt\n/)
    expect(await shell.refused('events', '--after', 'nonsense')).toMatchObject({
      code: 2,
      error: { code: 'INVALID_INPUT' },
    })
  })

  it('follows from a cursor, one event a line, and prints the next cursor when interrupted', async () => {
    const { cursor } = await shell.json('events')
    await alice.upload('b.txt', 'b')
    const following = await follow('--json', '--after', cursor)
    await until(() => following.out().includes('b.txt'))
    await alice.upload('c.txt', 'c')
    await until(() => following.out().includes('c.txt'))
    const { code, err } = await following.stop()
    expect(code).toBe(130)
    const told = linesOf(following.out())
    expect(pathsOf(told)).toEqual(['b.txt', 'c.txt'])
    const { error } = JSON.parse(err)
    expect(error.code).toBe('INTERRUPTED')
    const after = /--after (\S+)/.exec(error.message)?.[1] ?? ''
    await alice.upload('d.txt', 'd')
    expect(pathsOf((await shell.json('events', '--after', after)).events)).toEqual(['d.txt'])
  })

  it('runs a command for each event, passing it on standard input only', async () => {
    const { cursor } = await shell.json('events')
    const name = "$(touch pwned); `touch pwned` & '.txt"
    await alice.upload(name, 'x')
    await alice.upload('e.txt', 'x')
    const { code, out } = await shell.satchel([
      'events',
      '--after',
      cursor,
      '--exec',
      'cat >> seen; echo "$0 $#" >> args',
    ])
    expect([code, out]).toEqual([0, ''])
    expect(pathsOf(linesOf(read('seen')))).toEqual([name, 'e.txt'])
    expect(new Set(read('args').trim().split('\n')).size).toBe(1)
    expect(() => read('pwned')).toThrow('ENOENT')
  })

  it('stops at an event whose command fails, and resumes with the same event', async () => {
    const { cursor } = await shell.json('events')
    for (const path of ['first', 'second', 'third']) await alice.upload(path, 'x')
    const failing = await shell.refused(
      'events',
      '--after',
      cursor,
      '--exec',
      'read line; case "$line" in *second*) exit 3;; esac',
    )
    expect(failing).toMatchObject({
      code: 1,
      error: { code: 'COMMAND_FAILED', after: expect.any(String) },
    })
    const again = await shell.json('events', '--after', String(failing.error.after))
    expect(pathsOf(again.events)).toEqual(['second', 'third'])
  })
})
