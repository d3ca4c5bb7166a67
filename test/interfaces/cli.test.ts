import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/program.ts'
import { ended, openWarmShell, program, type Shell } from '../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { aTime } from '../support/shapes.ts'

let t: TestApp
let alice: Person
let shell: Shell
/** A key for alice's personal files. */
let key: string
let workspaceId: string

const secretOf = ({ cookie }: Person) => cookie.replace('session_id=', '')

async function keyOf(person: Person, scopes: string[], path = 'private'): Promise<string> {
  const { response } = await person.rest('POST', `/api/api_keys/${path}/create`, {
    json: { name: 'k', scopes },
  })
  return response.api_key.key
}

const scopes = ['read', 'write', 'share', 'delete'].map(word => `private_files:${word}`)

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  key = await keyOf(alice, scopes)
  const { response } = await alice.rest('POST', '/api/workspaces/create', {
    json: { name: 'Garden' },
  })
  workspaceId = response.workspace.workspace_id
  await alice.upload('docs/a.txt', 'hello')
  shell = openWarmShell()
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

/** Runs the test with its own home. */
async function inShell<T>(
  settings: Record<string, string>,
  work: (shell: Shell) => Promise<T>,
): Promise<T> {
  const own = openWarmShell(settings)
  try {
    return await work(own)
  } finally {
    own.close()
  }
}

describe('satchel login', () => {
  it('verifies the key with the service, and stores it readable only by this user', async () => {
    // Creates the folder with wrong permissions first.
    mkdirSync(join(shell.home, 'config/satchel'), { recursive: true })
    chmodSync(join(shell.home, 'config/satchel'), 0o755)
    const { code, out, err } = await shell.satchel(['login', `${t.url}/`], { stdin: `${key}\n` })
    expect([code, out, err]).toEqual([
      0,
      `Signed in to ${t.url} as alice@example.com (own files).\n`,
      '',
    ])
    const folder = join(shell.home, 'config/satchel')
    expect(readdirSync(folder)).toEqual(['credentials.json'])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'credentials.json')).mode & 0o777).toBe(0o600)
    expect(await shell.json('whoami')).toEqual({
      url: t.url,
      email: 'alice@example.com',
      credentials: [
        {
          use: 'own files',
          valid: true,
          email: 'alice@example.com',
          via: 'api_key',
          expires_at: null,
        },
      ],
    })
  })

  it('adds a workspace key and a session to the login', async () => {
    await inShell({}, async own => {
      const reading = await keyOf(alice, ['workspaces:read', 'workspaces:files:read'], workspaceId)
      const mute = await keyOf(alice, ['workspaces:files:read'], workspaceId)
      const login = (args: string[], stdin: string) =>
        own.satchel(['login', ...args, '--json'], { stdin })
      const first = JSON.parse((await login([t.url], reading)).out)
      expect(first).toMatchObject({ via: 'key', workspace: { id: workspaceId, slug: 'garden' } })
      expect(await own.json('ls', 'garden:/')).toEqual({ path: 'garden:/', folders: [], files: [] })

      expect(JSON.parse((await login([], mute)).err).error).toMatchObject({
        code: 'USAGE',
        exit_code: 2,
      })
      expect((await login(['--workspace', workspaceId], mute)).code).toBe(0)
      expect((await login(['--workspace', 'garden'], mute)).code).toBe(2)
      expect((await own.json('ls', `${workspaceId}:/`)).path).toBe(`${workspaceId}:/`)
      // The workspace key has no slug, so the slug of the earlier key is used.
      expect((await own.json('ls', 'garden:/')).path).toBe('garden:/')

      const session = JSON.parse((await login(['--session'], `session_id=${secretOf(alice)}`)).out)
      expect(session).toMatchObject({ via: 'session', workspace: null, expires_at: aTime })
      const { credentials } = await own.json('whoami')
      expect(credentials.map((c: { use: string; via: string }) => [c.use, c.via])).toEqual([
        ['own files', 'session'],
        ['workspace garden', 'api_key'],
      ])
      expect((await own.json('workspace', 'list')).workspaces).toHaveLength(1)
    })
  })

  it('stores the slug of a workspace if the session shows it, or explains how to write its paths', async () => {
    const mute = await keyOf(alice, ['workspaces:files:read'], workspaceId)
    const args = ['login', t.url, '--workspace', workspaceId]
    await inShell({}, async own => {
      expect(await own.satchel(args, { stdin: mute })).toMatchObject({
        code: 0,
        err: `This key cannot read the slug of its workspace: write its paths as ${workspaceId}:/path.\n`,
      })
      expect(await own.refused('ls', 'garden:/')).toMatchObject({ code: 3 })
      await own.satchel(['login', '--session'], { stdin: secretOf(alice) })
      expect(await own.satchel(args, { stdin: mute })).toMatchObject({ code: 0, err: '' })
    })
  })

  it('keeps one login per service; --service and SATCHEL_URL choose', async () => {
    await inShell({}, async own => {
      const bob = await t.signIn('bob')
      const other = t.url.replace('localhost', '127.0.0.1')
      await own.satchel(['login', t.url], { stdin: key })
      expect(await own.satchel(['login', other], { stdin: await keyOf(bob, scopes) })).toEqual({
        code: 0,
        out: `Signed in to ${other} as bob@example.com (own files).\n`,
        err: `Commands now use ${other}. You are still signed in at ${t.url}: add --service ${t.url} to use it.\n`,
      })
      const who = async (args: string[], env = {}) => {
        const { out } = await own.satchel(['whoami', '--json', ...args], { env })
        return out && JSON.parse(out).email
      }
      expect(await who([])).toBe('bob@example.com')
      expect(await who(['--service', `${t.url}/`])).toBe('alice@example.com')
      expect(await who([], { SATCHEL_URL: t.url })).toBe('alice@example.com')
      // A key in the environment belongs to one service, and is not sent to another.
      expect(await who(['--service', other], { SATCHEL_URL: t.url, SATCHEL_KEY: key })).toBe(
        'bob@example.com',
      )
      expect(await who(['--service', t.url], { SATCHEL_KEY: 'satchel_wrong' })).toBe('')
      expect((await own.satchel(['ls', '--service', 'nonsense'])).code).toBe(2)

      expect((await own.satchel(['logout'])).out).toBe(
        `Signed out of ${other}. You are still signed in at ${t.url}.\n`,
      )
      expect(await who([])).toBe('alice@example.com')
      expect((await own.satchel(['logout', '--service', other])).out).toBe(
        'You were not signed in.\n',
      )
      expect((await own.satchel(['logout'])).out).toBe(`Signed out of ${t.url}.\n`)
    })
  })

  it('exits with 3 and stores nothing for an unknown key', async () => {
    await inShell({}, async own => {
      const { code, out, err } = await own.satchel(['login', t.url], { stdin: 'satchel_wrong' })
      expect([code, out]).toEqual([3, ''])
      expect(err).toBe(
        'error: The service does not accept this key. It may be mistyped, expired or deleted. (UNAUTHENTICATED)\n',
      )
      expect(readdirSync(own.home)).toEqual([])
      expect(await own.refused('ls')).toMatchObject({
        code: 3,
        error: { code: 'NOT_SIGNED_IN', exit_code: 3 },
      })
    })
  })

  it.each<[string, string[], string, number]>([
    ['an empty key', ['login', 'http://127.0.0.1:1'], ' \n', 2],
    ['two lines as key', ['login', 'http://127.0.0.1:1'], 'a\nb', 2],
    ['no address', ['login'], 'key', 2],
    ['an invalid address', ['login', 'files.example.com'], 'key', 2],
    ['an address with a password', ['login', 'https://a:b@example.com'], 'key', 2],
    ['an unreachable service', ['login', 'http://127.0.0.1:2', '--retries', '0'], 'key', 7],
  ])('refuses %s', async (_what, args, stdin, exit) => {
    await inShell({}, async own => {
      const { code, out, err } = await own.satchel(args, { stdin })
      expect([code, out]).toEqual([exit, ''])
      expect(err).toMatch(/^error: /)
    })
  })

  it('reads the key at a terminal without echo', async () => {
    await inShell({}, async own => {
      const { out, code } = await atTerminal(own, `login --key ${t.url}`, 'API key for', `${key}\r`)
      expect([code, out]).toEqual([0, expect.stringContaining('Signed in to')])
      expect(out).not.toContain(key)
      expect((await own.json('whoami')).email).toBe('alice@example.com')
    })
  })

  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-D', '\u0004', 2],
    ['an empty line', '\r', 2],
  ])('stores nothing after %s', async (_what, typed, exit) => {
    await inShell({}, async own => {
      expect(await atTerminal(own, `login --key ${t.url}`, 'API key for', typed)).toMatchObject({
        code: exit,
      })
      expect(readdirSync(own.home)).toEqual([])
    })
  })

  it('sends a stored credential to its own service only', async () => {
    const elsewhere = { env: { SATCHEL_URL: 'http://127.0.0.1:2' } }
    const { code, err } = await shell.satchel(['ls', '--json'], elsewhere)
    expect([code, JSON.parse(err).error.code]).toEqual([3, 'NOT_SIGNED_IN'])
  })
})

describe('The environment', () => {
  it('takes precedence over stored credentials', async () => {
    const bob = await t.signIn('bob')
    const settings = { SATCHEL_URL: t.url, SATCHEL_KEY: await keyOf(bob, scopes) }
    const { out } = await shell.satchel(['whoami', '--json'], { env: settings })
    expect(JSON.parse(out).email).toBe('bob@example.com')
    await inShell(settings, async own => {
      expect((await own.json('ls')).files).toEqual([])
      expect(readdirSync(own.home)).toEqual([])
    })
  })

  it('may hold a session, which may do everything', async () => {
    await inShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(alice) }, async own => {
      expect((await own.json('keys', 'list')).keys.length).toBeGreaterThan(0)
      expect((await own.json('ls', 'docs')).files).toHaveLength(1)
      expect((await own.json('ls', 'garden:/')).path).toBe('garden:/')
    })
  })
})

describe('satchel logout', () => {
  it('deletes all credentials, and ends the session at the service', async () => {
    await inShell({}, async own => {
      const session = await t.signIn('alice')
      await own.satchel(['login', t.url], { stdin: key })
      await own.satchel(['login', '--session'], { stdin: secretOf(session) })
      expect((await own.satchel(['logout'])).out).toBe(`Signed out of ${t.url}.\n`)
      expect(readdirSync(join(own.home, 'config/satchel'))).toEqual([])
      expect((await session.rest('GET', '/api/user/data')).status).toBe(401)
      expect(await own.json('logout')).toEqual({
        logged_out: false,
        url: null,
        key_deleted: null,
        others: [],
      })
      expect((await own.satchel(['ls'])).code).toBe(3)
    })
    expect((await alice.rest('GET', '/api/user/data')).status).toBe(200)
  })
})

describe('satchel whoami', () => {
  it('exits with 3 when no credential is valid', async () => {
    await inShell({}, async own => {
      const short = await keyOf(alice, scopes)
      await own.satchel(['login', t.url], { stdin: short })
      const { response } = await alice.rest('GET', '/api/api_keys/private/list')
      await alice.rest('DELETE', '/api/api_keys/private/delete', {
        json: { api_key_id: response.api_keys[0].id },
      })
      expect(await own.refused('whoami')).toMatchObject({
        code: 3,
        error: { code: 'UNAUTHENTICATED' },
      })
    })
  })
})

describe('satchel quota', () => {
  it('shows used and available storage', async () => {
    const { code, out } = await shell.satchel(['quota'])
    expect(code).toBe(0)
    expect(out).toMatch(/^stored +5 B +of 5 GiB +0%\nfiles +1 +of 10000 +0%\nfolders +1\n/)
    expect(await shell.json('quota')).toMatchObject({
      email: 'alice@example.com',
      used_bytes: 5,
      file_count: 1,
      max_total_storage_bytes: 5 * 1024 ** 3,
    })
  })

  it('of a workspace is shown to members who may see it', async () => {
    await inShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(alice) }, async own => {
      expect(await own.json('quota', 'garden')).toMatchObject({
        workspace_id: workspaceId,
        member_count: 1,
      })
      expect((await own.satchel(['quota', 'garden:'])).out).toMatch(/members +1 +of 10 +10%/)
      expect(await own.refused('quota', 'park')).toMatchObject({
        code: 4,
        error: { code: 'WORKSPACE_NOT_FOUND' },
      })
    })
    expect(await shell.refused('quota', workspaceId)).toMatchObject({
      code: 3,
      error: { code: 'KEY_OUT_OF_BOUNDS' },
    })
  })
})

describe('Exit codes', () => {
  it.each<[number, string, string[]]>([
    [2, 'USAGE', ['frobnicate']],
    [2, 'USAGE', ['ls', '--frobnicate']],
    [2, 'USAGE', ['mv', 'a']],
    [2, 'USAGE', ['ls', '--retries', 'many']],
    [2, 'USAGE', ['quick-share', 'docs/a.txt', '--for', 'a while']],
    [2, 'USAGE', ['workspace', 'role', 'garden', 'bob', 'king']],
    [2, 'INVALID_PATH', ['ls', 'docs/../x']],
    [2, 'INVALID_DURATION', ['quick-share', 'docs/a.txt', '--for', '9y']],
    [3, 'KEY_OUT_OF_BOUNDS', ['keys', 'list']],
    [4, 'NOT_FOUND', ['ls', 'nowhere']],
    [4, 'FILE_NOT_FOUND', ['quick-share', 'nowhere']],
    [5, 'PATH_EXISTS', ['mkdir', 'docs']],
  ])('%i for %s: satchel %j', async (exit, code, args) => {
    expect(await shell.refused(...args)).toMatchObject({
      code: exit,
      error: { code, exit_code: exit },
    })
    const { code: plain, out, err } = await shell.satchel(args)
    expect([plain, out]).toEqual([exit, ''])
    expect(err).toMatch(/^error: .+/)
  })

  it('6 over the quota, with the limit', async () => {
    await t.limit({ maxFiles: 1 })
    const { code, err } = await shell.satchel(['put', '-', '--name', 'b.txt', '--json'], {
      stdin: 'b',
    })
    await t.limit({ maxFiles: 10_000 })
    expect([code, JSON.parse(err).error]).toEqual([
      6,
      expect.objectContaining({ code: 'QUOTA_EXCEEDED', limit: 'max_files', max: 1, used: 1 }),
    ])
  })

  it('7 when the service is unreachable after all retries, reported with -v', async () => {
    const { code, err } = await shell.satchel(['ls', '--retries', '1', '-v'], {
      env: { SATCHEL_URL: 'http://127.0.0.1:2', SATCHEL_KEY: key },
    })
    expect([code, err]).toEqual([
      7,
      '127.0.0.1:2 cannot be reached (ECONNREFUSED). Trying again (1 of 1).\nerror: 127.0.0.1:2 cannot be reached (ECONNREFUSED). (UNREACHABLE)\n',
    ])
  })
})

describe('--help', () => {
  it('lists the commands and the exit codes, and starts fast', async () => {
    const before = performance.now()
    const { code, out, err } = await ended(shell.begin(['--help']))
    expect([code, err]).toEqual([0, ''])
    for (const word of [
      'login',
      'quick-share',
      'completion',
      'Exit codes',
      'SATCHEL_KEY',
      'NO_COLOR',
    ])
      expect(out).toContain(word)
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it('shows valid examples for every command', () => {
    const commands = commandsOf([])
    const all = commands.flatMap(([path, help]) =>
      [...help.matchAll(/\$ (?:.*\| )?satchel ([a-z-]+(?: [a-z-]+)?)/g)].map(m => [path, m[1]]),
    )
    expect(commands.length).toBeGreaterThan(35)
    for (const [path, help] of commands)
      if (!/\bCommands:/.test(help))
        expect([path, help]).toEqual([path, expect.stringContaining('Examples:')])
    const known = commands.map(([path]) => path.join(' '))
    for (const [, called = ''] of all)
      expect(known.some(name => name === called || name === (called as string).split(' ')[0])).toBe(
        true,
      )
  })
})

/** All commands with their subcommands. */
function commandsOf(path: string[], command: Command = createProgram('')): [string[], string][] {
  const written: string[] = []
  command.configureOutput({ writeOut: text => written.push(text) }).outputHelp()
  const inner = command
    .createHelp()
    .visibleCommands(command)
    .filter(below => below.name() !== 'help')
    .flatMap(below => commandsOf([...path, below.name()], below))
  return [[path, written.join('')], ...inner]
}

describe('--version', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await shell.satchel(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
  })
})

describe('Colours', () => {
  it('appear only on terminals that support them', async () => {
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`)
    expect((await atTerminal(shell, 'ls')).out).toMatch(escapes)
    expect(
      (await atTerminal(shell, 'ls', undefined, undefined, { NO_COLOR: '1' })).out,
    ).not.toMatch(escapes)
    expect((await atTerminal(shell, 'ls', undefined, undefined, { TERM: 'dumb' })).out).not.toMatch(
      escapes,
    )
    for (const env of [{}, { CI: 'true' }]) {
      expect((await shell.satchel(['ls'], { env })).out).toBe('docs/\n')
      expect((await shell.satchel(['ls', 'nowhere'], { env })).err).not.toMatch(escapes)
    }
  })
})

describe('The key', () => {
  it('appears in no output and no log', async () => {
    const said = await Promise.all(
      [['ls'], ['whoami'], ['ls', 'nowhere', '-v'], ['quota', '--json']].map(args =>
        shell.satchel([...args, '-v']),
      ),
    )
    const texts = said.map(({ out, err }) => out + err)
    expect([...texts, t.logs()].filter(text => text.includes(key))).toEqual([])
  })
})

describe('satchel completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async name => {
    const { code, out, err } = await shell.satchel(['completion', name])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/satchel complete /)
  })

  it('exits with 2 for an unknown shell', async () => {
    expect(await shell.refused('completion', 'tcsh')).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
  })

  it.each([
    ['work', 'workspace\tworkspaces, their members and invites\n:4\n'],
    ['put ', ':0\n'],
  ])('completes for PowerShell in the format of its script: "%s"', async (line, out) => {
    expect(await shell.satchel(['complete', '--', ...line.split(' ')])).toEqual({
      code: 0,
      out,
      err: '',
    })
  })
})

/** Runs satchel on a terminal, and types the answer after the prompt. */
async function atTerminal(
  { env, home }: Shell,
  line: string,
  question?: string,
  typed?: string,
  more: Record<string, string> = {},
): Promise<{ out: string; code: number | null }> {
  const { spawn } = await import('node:child_process')
  const command = `${process.execPath} ${program} ${line}`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: home,
    env: { ...env, TERM: 'xterm', ...more },
  })
  let seen = ''
  child.stdout.on('data', chunk => {
    seen += chunk
    if (question !== undefined && seen.includes(question)) {
      child.stdin.write(typed ?? '')
      question = undefined
    }
  })
  const { code } = await ended(child)
  return { out: seen, code }
}
