import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ended, openWarmShell, program, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'
import { startFakeService } from '../../unit/fake-service.ts'

let t: TestApp
let alice: Person
let shell: Shell

const secretOf = ({ cookie }: Person) => cookie.replace('session_id=', '')

/** Names that a shell would interpret. */
const odd = [
  "it's $HOME `id` $(touch hacked).txt",
  'say "hi"!.txt',
  'ünï 日本.txt',
  'a&b;c|d>e*?.txt',
]

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.rest('POST', '/api/workspaces/create', { json: { name: 'Garden' } })
  shell = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(alice) })
  for (const name of ['docs/a.txt', 'docs/inner/b.txt', 'my files/one two.txt'])
    await alice.upload(name, name)
  // Uploaded by the command, because the form of the harness encodes a quotation mark differently.
  for (const name of odd)
    expect((await shell.satchel(['put', '-', '--to', 'odd', '--name', name])).code).toBe(0)
  await alice.upload('a:b.txt', 'x')
  await alice.upload('-dash.txt', 'x')
  writeFileSync(join(shell.home, 'local.txt'), 'x')
  mkdirSync(join(shell.home, 'docs'))
  await shell.json('mkdir', 'garden:/plans of mine', 'garden:/gone one', 'gone two')
  await shell.json('rm', '-r', 'garden:/gone one', 'gone two')
  await shell.json('tag', 'create', 'Invoices')
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

/** How to start each interactive shell with the completion loaded. */
const shells = {
  bash: { begin: 'bash --norc --noprofile -i', load: 'source <(satchel completion bash)' },
  zsh: {
    begin: 'zsh -f -i',
    load: 'autoload -U compinit && compinit -u -D; source <(satchel completion zsh)',
  },
  fish: { begin: 'fish --no-config -i', load: 'satchel completion fish | source' },
} as const

const has = (name: string) =>
  spawnSync('sh', ['-c', `command -v ${name} && command -v script`]).status === 0

interface Terminal {
  /**
   * Types keys, with TAB for a completion, and Enter. Returns the words of the resulting command.
   */
  typed(keys: string): Promise<string[]>
  close(): Promise<void>
}

/**
 * A shell on a terminal. Its `satchel` serves completions, and records the words of every other
 * command.
 */
async function openTerminal(
  name: keyof typeof shells,
  settings: Record<string, string> = {},
): Promise<Terminal> {
  const [bin, said] = [join(shell.home, 'bin'), join(shell.home, 'said')]
  mkdirSync(bin, { recursive: true })
  const command = `#!/bin/sh
case $1 in complet*) exec ${process.execPath} ${program} "$@" ;; esac
printf '%s\\0' "$@" > ${said}.new && mv ${said}.new ${said}
`
  writeFileSync(join(bin, 'satchel'), command, { mode: 0o755 })
  const env = {
    ...shell.env,
    PATH: `${bin}:${shell.env.PATH}`,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    ...settings,
  }
  const child = spawn('script', ['-qec', shells[name].begin, '/dev/null'], { cwd: shell.home, env })
  const end = ended(child)
  const enter = async (keys: string) => {
    rmSync(said, { force: true })
    child.stdin.write(`${keys}\r`)
    await until(() => existsSync(said))
    return readFileSync(said, 'utf8').split('\0').slice(0, -1)
  }
  await enter(`${shells[name].load}; satchel ready`)
  return {
    typed: enter,
    async close() {
      child.stdin.end('exit\r')
      await end
    },
  }
}

type Line = [keys: string, words: string[]]

/** Cases that each shell handles in its own way. */
const everywhere: Line[] = [
  ['satchel wor\t', ['workspace']],
  ['satchel ls do\t', ['ls', 'docs/']],
  ['satchel get docs/a\tdocs/in\tb\t', ['get', 'docs/a.txt', 'docs/inner/b.txt']],
  ['satchel rm -r my\ton\t', ['rm', '-r', 'my files/one two.txt']],
  ['satchel get odd/it\t', ['get', `odd/${odd[0]}`]],
  ["satchel get 'odd/it\t", ['get', `odd/${odd[0]}`]],
  ['satchel get "odd/it\t', ['get', `odd/${odd[0]}`]],
  ['satchel get odd/say\t', ['get', `odd/${odd[1]}`]],
  ['satchel get odd/ü\t', ['get', `odd/${odd[2]}`]],
  ['satchel get odd/a\t', ['get', `odd/${odd[3]}`]],
  ['satchel note /a\t', ['note', '/a:b.txt']],
  ['satchel keys list --workspace=ga\t', ['keys', 'list', '--workspace=garden']],
  ['satchel put loc\t', ['put', 'local.txt']],
]
/** Results of `satchel complete` that do not depend on the shell. */
const inOne: Line[] = [
  ['satchel ls --lo\t', ['ls', '--long']],
  ['satchel workspace role garden bob vi\t', ['workspace', 'role', 'garden', 'bob', 'viewer']],
  ['satchel get docs/a\t', ['get', 'docs/a.txt']],
  ["satchel mv 'my files/on\t x", ['mv', 'my files/one two.txt', 'x']],
  [
    'satchel quick-share "my files/on\t --for 1h',
    ['quick-share', 'my files/one two.txt', '--for', '1h'],
  ],
  ['satchel share /do\ta\t', ['share', '/docs/a.txt']],
  ["satchel get 'odd/say\t", ['get', `odd/${odd[1]}`]],
  ['satchel rm -- /-\t', ['rm', '--', '/-dash.txt']],
  ['satchel tree docs/\t', ['tree', 'docs/inner/']],
  ['satchel mkdir my\tnew', ['mkdir', 'my files/new']],
  ['satchel put x --to do\tin\t', ['put', 'x', '--to', 'docs/inner/']],
  ['satchel put x --kee\t', ['put', 'x', '--keep-both']],
  ['satchel sync do\t :/do\tin\t', ['sync', 'docs/', ':/docs/inner/']],
  ['satchel sync garden:/pl\t loc\t', ['sync', 'garden:/plans of mine/', 'local.txt']],
  ['satchel ls ga\t', ['ls', 'garden:']],
  ['satchel tra\tre\tgon\t', ['trash', 'restore', 'gone two']],
  ['satchel tag ad\t Inv\t docs/a\t', ['tag', 'add', 'Invoices', 'docs/a.txt']],
  ['satchel ls --tag Inv\t', ['ls', '--tag', 'Invoices']],
  ['satchel trash restore /gon\t', ['trash', 'restore', '/gone two']],
  [
    'satchel trash restore gar\tgo\t --on-conflict k\t',
    ['trash', 'restore', 'garden:gone one', '--on-conflict', 'keep-both'],
  ],
  ['satchel tree garden:/pl\t', ['tree', 'garden:/plans of mine/']],
  ['satchel tree gar\tpl\t', ['tree', 'garden:plans of mine/']],
  ['satchel quota ga\t', ['quota', 'garden']],
  ['satchel keys list --workspace ga\t', ['keys', 'list', '--workspace', 'garden']],
  ['satchel get x -o loc\t', ['get', 'x', '-o', 'local.txt']],
]

describe.each(Object.keys(shells) as (keyof typeof shells)[])('In %s', name => {
  const there = has(name)
  let terminal: Terminal

  beforeAll(async () => {
    if (there) terminal = await openTerminal(name)
  })
  afterAll(() => terminal?.close())

  const on = there ? it : it.skip

  on.each(name === 'bash' ? [...everywhere, ...inOne] : everywhere)('%j', async (keys, words) => {
    // On a busy machine a response may exceed the time limit of completions.
    let typed = await terminal.typed(keys)
    for (let left = 3; left > 0 && !isDeepStrictEqual(typed, words); left--)
      typed = await terminal.typed(keys)
    expect(typed).toEqual(words)
  })
})

describe('satchel complete', () => {
  const ask = (word: string, env: Record<string, string>) =>
    shell.satchel(['complete', '--shell', 'zsh', '--', 'ls', word], { env })

  it('prints nothing when signed out or when the service is unreachable', async () => {
    const nothing = { code: 0, out: '', err: '' }
    expect(await ask('', { SATCHEL_URL: '' })).toEqual(nothing)
    expect(await ask('', { SATCHEL_URL: 'http://127.0.0.1:2' })).toEqual(nothing)
    expect(await ask('park:/', {})).toEqual(nothing)
    // A server that accepts the request and never responds.
    const mute = createServer().listen(0, '127.0.0.1')
    await once(mute, 'listening')
    expect(
      await ask('', { SATCHEL_URL: `http://127.0.0.1:${(mute.address() as AddressInfo).port}` }),
    ).toEqual(nothing)
    mute.close()
  })

  it('prints one name a line, without control characters', async () => {
    const nodes = ['a\nb', 'c\td', '\u001b[2J', 'fine'].map(name => ({
      __typename: 'Folder',
      name,
    }))
    const fields = { 'Drive.entry': { __typename: 'Folder' }, 'Folder.entries': { nodes } }
    const service = await startFakeService({ fields })
    expect((await ask('', { SATCHEL_URL: service.url, SATCHEL_SESSION: 'x' })).out).toBe(
      'fine/\t\ntext:\t\n',
    )
    await service.close()
  })
})
