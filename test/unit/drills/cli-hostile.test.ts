import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type FakeService, startFakeService } from '../fake-service.ts'

const esc = String.fromCharCode(27)
const c1 = String.fromCharCode(0x9b)
/** Clears the screen, sets colours, reverses the text direction, and contains a path traversal. */
const evil = `../../evil${esc}[2J${c1}31m\u202e\r\n\u2028\u0007`
const steers = /[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u

let service: FakeService
let refusing: FakeService
let shell: Shell

beforeAll(async () => {
  const file = { __typename: 'File', name: evil, size: 0, md5: '../x' }
  const folder = { __typename: 'Folder' }
  const names = ['..', '.', '', 'a/b', evil, '\u0000']
  const outside = [evil, 'docs/..', '../../escape', '..\\escape', '/etc/passwd']
  const details = { path: evil, from: evil, name: evil, recipient: evil }
  const event = { kind: evil, happened_at: evil, subject_id: evil, cursor: evil, details }
  service = await startFakeService({
    text: evil,
    fields: {
      slug: 'garden',
      workspaceSlug: 'garden',
      'Drive.entry': ({ path }: { path: string }) => {
        if (path === 'docs/a.txt' || path === 'a') return file
        const nodes = [
          ...names.map(name => ({ ...folder, name })),
          ...outside.map(name => ({ ...file, name })),
        ]
        return {
          ...folder,
          entries: { nodes: path === 'docs' ? nodes : [{ ...folder, name: 'docs' }] },
        }
      },
      size: 0,
    },
    listener: ({ url = '' }, res) => {
      const isEvents = /\/events\?/.test(url)
      if (isEvents)
        res.end(JSON.stringify({ response: { events: [event], cursor: evil, has_more: false } }))
      return isEvents
    },
  })
  refusing = await startFakeService({
    listener: (req, res) => {
      const error = { message: evil, extensions: { code: evil, path: evil } }
      res.writeHead(req.url === '/graphql' ? 200 : 400, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ errors: [error], status: 400, msg: evil, response: { code: evil } }))
      return true
    },
  })
  shell = openWarmShell({ SATCHEL_URL: service.url, SATCHEL_KEY: 'key' })
  writeFileSync(join(shell.home, 'a.txt'), 'a')
})
afterAll(async () => {
  shell?.close()
  await service?.close()
  await refusing?.close()
})

const commands = [
  ['ls', 'docs'],
  ['ls', '-l', 'garden:/docs'],
  ['tree', 'docs', '--depth', '1'],
  ['tree', 'garden:/docs', '--depth', '1'],
  ['whoami'],
  ['quota'],
  ['quota', 'garden'],
  ['note', 'docs/a.txt'],
  ['share', 'a', '--with', 'b@example.com'],
  ['quick-share', 'a'],
  ['shares'],
  ['received', '--mark-seen'],
  ['mv', 'a', 'b', '-v'],
  ['rm', 'a', '-v'],
  ['events'],
  ['events', 'garden'],
  ['trash', 'list'],
  ['trash', 'list', 'garden'],
  ['trash', 'restore', '0198c0de-0000-7000-8000-000000000000', '-v'],
  ['trash', 'empty', '-v', '--yes'],
  ['workspace', 'list'],
  ['workspace', 'create', 'x'],
  ['workspace', 'rename', 'garden', 'x'],
  ['workspace', 'members', 'garden'],
  ['workspace', 'invites'],
  ['workspace', 'invites', 'garden'],
  ['workspace', 'accept', 'garden'],
  ['keys', 'list'],
  ['keys', 'create', 'x', '--scope', 'read'],
]

describe('A hostile service', () => {
  it.each(commands)(
    'sends no control sequences to the terminal: satchel %s %s',
    async (...args) => {
      for (const more of [[], ['--json']]) {
        const { code, out, err } = await shell.satchel([...args, ...more])
        expect([code, err]).toEqual([0, ''])
        expect(out).not.toMatch(steers)
        expect(out).not.toBe('')
      }
    },
  )

  // All commands print errors in the same way. A command with several arguments prints one for
  // each.
  it.each([
    ['ls', '-l', 'garden:/docs'],
    ['quota'],
    ['share', 'a', '--with', 'b@example.com'],
    ['mv', 'a', 'b'],
    ['rm', 'a'],
    ['trash', 'restore', '0198c0de-0000-7000-8000-000000000000'],
    ['workspace', 'accept', 'garden'],
  ])('sends no control sequences to the terminal in errors: satchel %s %s', async (...args) => {
    const refused = await shell.satchel([...args, '-v'], { env: { SATCHEL_URL: refusing.url } })
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).not.toMatch(steers)
    expect(refused.err).toContain('evil')
  })

  it.each([['docs'], ['garden:/docs'], ['garden:/']])(
    'writes nothing outside the target: satchel get %s',
    async path => {
      const inner = join(shell.home, 'in/here')
      const { code, out, err } = await shell.satchel(['get', path, '-o', inner, '--json'])
      expect(code).toBe(1)
      const { failed } = JSON.parse(out)
      expect(failed.length).toBeGreaterThan(3)
      expect(failed.map((f: { code: string }) => f.code)).toEqual(failed.map(() => 'UNSAFE_NAME'))
      expect(out + err).not.toMatch(steers)
      expect(readdirSync(shell.home).sort()).toEqual(['a.txt', 'in'])
      expect(readdirSync(join(shell.home, 'in'))).toEqual(['here'])
    },
  )

  it('cannot make a link with a misleading name', async () => {
    const { code, err } = await shell.satchel(['get', `${service.url}/share/abc`, '-o', 'in/'])
    expect([code, err]).toEqual([1, expect.stringContaining('(UNSAFE_NAME)')])
    expect(err).not.toMatch(steers)
  })

  it('prompts for a password in plain characters only', async () => {
    const { err } = await shell.satchel(['get', `${service.url}/share/abc`, '--password'], {
      stdin: 'x',
    })
    expect(err).not.toMatch(steers)
  })
})
