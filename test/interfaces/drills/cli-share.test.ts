import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import decodeQR from 'qr/decode.js'
import { found, put } from '../../support/builders.ts'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { aTime, at } from '../../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let shell: Shell
let bobs: Shell
let strangers: Shell

const shellOf = ({ cookie }: Person) =>
  openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: cookie.replace('session_id=', '') })

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  shell = shellOf(alice)
  bobs = shellOf(bob)
  strangers = openWarmShell()
  await alice.upload('docs/a.txt', 'hello')
  await alice.upload('docs/b.txt', 'bee')
})
afterAll(async () => {
  for (const each of [shell, bobs, strangers]) each?.close()
  await t.stop()
})

const DAY = 86_400_000

describe('satchel share', () => {
  it('shares with a user, who sees it, marks it and downloads it', async () => {
    const before = Date.now()
    const { shares, notification_status } = await shell.json(
      ...[
        'share',
        'docs/a.txt',
        '/docs/b.txt',
        '--with',
        'Bob@example.com',
        '--for',
        '2 weeks',
        '--notify',
      ],
    )
    expect(notification_status).toBe('queued')
    expect(shares.map((s: { path: string }) => s.path)).toEqual(['/docs/a.txt', '/docs/b.txt'])
    expect(Math.round((at(shares[0].expires_at) - before) / DAY)).toBe(14)

    const received = await bobs.json('received', '--unseen', '--mark-seen')
    expect(received.shares).toMatchObject([
      {
        path: 'a.txt',
        shared_by: 'alice@example.com',
        seen: false,
        size: 5,
        sharing_token: shares[0].sharing_token,
      },
      { path: 'b.txt' },
    ])
    expect(await bobs.json('received', '--unseen')).toEqual({ shares: [] })
    const { out } = await bobs.satchel(['received'])
    expect(out).toMatch(
      /^ +FILE +FROM +SIZE +UNTIL +LINK\n +a\.txt +alice@example\.com +5 B +\d{4}-/,
    )

    const got = await bobs.json('get', shares[0].sharing_link)
    expect(got.files).toMatchObject([{ path: 'a.txt', size: 5, status: 'downloaded' }])
    expect(readFileSync(join(bobs.home, 'a.txt'), 'utf8')).toBe('hello')
    expect((await bobs.satchel(['get', shares[1].sharing_link, '-o', '-'])).out).toBe('bee')
    expect(await strangers.refused('get', shares[0].sharing_link)).toMatchObject({ code: 3 })
  })

  it('prints only the link', async () => {
    const { out } = await shell.satchel(['share', 'docs/a.txt', '--with', 'carol@example.com'])
    expect(out).toMatch(/^https?:\/\/[^/]+\/share\/[\w-]+\n$/)
    // The output has the order of the arguments, even if a file was shared before.
    const paths = ['/docs/b.txt', '/docs/a.txt']
    const { shares } = await shell.json('share', ...paths, '--with', 'carol@example.com')
    expect(shares.map((s: { path: string }) => s.path)).toEqual(paths)
    expect(`${shares[1].sharing_link}\n`).toBe(out)
  })

  it.each<[number, string, string[]]>([
    [2, 'USAGE', ['docs/a.txt']],
    [2, 'USAGE', ['docs/a.txt', '--with', 'bob@example.com', '--link']],
    [2, 'USAGE', ['docs/a.txt', '--link', '--notify']],
    [2, 'USAGE', ['docs/a.txt', '--link', '--together']],
    [2, 'USAGE', ['docs/a.txt', '--with', 'bob@example.com', '--max-downloads', '1']],
    [4, 'FILE_NOT_FOUND', ['docs/a.txt', 'docs/nowhere.txt', '--link']],
    [2, 'INVALID_INPUT', ['docs/a.txt', '--with', 'nobody']],
    [4, 'FILE_NOT_FOUND', ['docs/nowhere.txt', '--with', 'bob@example.com']],
  ])('exits with %i %s for %j', async (exit, code, args) => {
    expect(await shell.refused('share', ...args)).toMatchObject({ code: exit, error: { code } })
  })
})

describe('satchel share with several files', () => {
  it('--link creates one link to all files, which is listed, downloaded, saved and revoked as one', async () => {
    await alice.upload('trip/plan.txt', 'walk')
    const paths = ['docs/a.txt', 'docs/b.txt', 'trip']
    const made = await shell.json(
      'share',
      ...paths,
      '--link',
      '--for',
      '1h',
      '--max-downloads',
      '9',
      '--label',
      'All',
    )
    expect(made).toEqual({
      paths: ['/docs/a.txt', '/docs/b.txt', '/trip'],
      sharing_token: expect.any(String),
      sharing_link: expect.any(String),
      expires_at: aTime,
    })
    const listed = async () =>
      (await shell.json('shares')).shares.filter((s: { label: string }) => s.label === 'All')
    expect(await listed()).toMatchObject([
      {
        path: 'a.txt and 2 more',
        entry_count: 3,
        size: 12,
        max_downloads: 9,
        sharing_link: made.sharing_link,
      },
    ])
    expect((await shell.satchel(['shares'])).out).toMatch(
      /^a\.txt and 2 more +anyone with the link/m,
    )
    const got = await bobs.json('get', made.sharing_link)
    expect(got.files).toMatchObject([{ path: 'a.txt and 2 more.zip', status: 'downloaded' }])
    const saved = await bobs.json('save', made.sharing_link, '--to', 'saved')
    expect(JSON.stringify(saved)).toMatch(/saved\/a\.txt.*saved\/b\.txt.*saved\/trip/)
    const some = await bobs.json('save', made.sharing_link, 'trip/plan.txt', '--to', 'some')
    expect(JSON.stringify(some)).toContain('some/plan.txt')
    await shell.json('links', 'edit', made.sharing_link, '--label', 'Some')
    await shell.json('revoke', made.sharing_link)
    expect(await listed()).toEqual([])
    expect((await fetch(made.sharing_link)).status).toBe(404)
  })

  it('--link creates a link to a single file like quick-share', async () => {
    const { out } = await shell.satchel(['share', 'docs/a.txt', '--link'])
    expect(out).toMatch(/^https?:\/\/[^/]+\/share\/[\w-]+\n$/)
    expect((await strangers.satchel(['get', out.trim(), '-o', '-'])).out).toBe('hello')
  })

  it('--together creates one share with a user', async () => {
    const { shares } = await shell.json(
      'share',
      'docs/a.txt',
      'docs/b.txt',
      '--with',
      'dora@example.com',
      '--together',
    )
    expect(shares).toMatchObject([{ path: 'a.txt and 1 more', shared_for: 'dora@example.com' }])
    await shell.json('revoke', shares[0].sharing_link)
  })
})

/**
 * Reads the QR code from terminal lines like a camera: each character has two modules, one above
 * the other, and each module is drawn with several pixels.
 */
function readCode(lines: string[]): string {
  const pixels = 4
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of the terminal
  const rows = lines.map(line => [...line.replace(/\u001b\[[\d;]*m/g, '')])
  const modules = rows.flatMap(row => [
    row.map(c => '█▀'.includes(c)),
    row.map(c => '█▄'.includes(c)),
  ])
  const [height, width] = [modules.length * pixels, (modules[0]?.length ?? 0) * pixels]
  const data = new Uint8Array(width * height * 3)
  for (let at = 0; at < width * height; at++) {
    const isDark = modules[Math.floor(at / width / pixels)]?.[Math.floor((at % width) / pixels)]
    data.fill(isDark ? 0 : 255, at * 3, at * 3 + 3)
  }
  return decodeQR({ width, height, data })
}

describe('satchel quick-share', () => {
  it('prints the link as a readable QR code, but not with --json', async () => {
    for (const command of [
      ['quick-share', 'docs/a.txt'],
      ['share', 'docs/a.txt', '--with', 'carol@example.com'],
      ['request', 'docs'],
    ]) {
      const { out } = await shell.satchel([...command, '--qr'])
      const [link = '', ...lines] = out.trimEnd().split('\n')
      expect(link).toMatch(/^http:/)
      expect(readCode(lines)).toBe(link)
      expect(JSON.stringify(await shell.json(...command, '--qr'))).not.toMatch(/[█▀▄]/)
    }
  })

  it('creates a link to a folder, which is listed by its path', async () => {
    const { sharing_link } = await shell.json('quick-share', 'docs')
    const page = await (await fetch(sharing_link)).text()
    expect(page).toContain('a.txt')
    const { shares } = await shell.json('shares')
    const [{ path }] = shares.filter(
      (share: { sharing_link: string }) => share.sharing_link === sharing_link,
    )
    expect(path).toBe('/docs')
  })

  it('creates a public link with a limit of downloads and an expiry', async () => {
    const before = Date.now()
    const { sharing_link, expires_at } = await shell.json(
      'quick-share',
      'docs/a.txt',
      '--for',
      '1h',
      '--max-downloads',
      '2',
    )
    expect(Math.round((at(expires_at) - before) / 60_000)).toBe(60)
    for (let n = 0; n < 2; n++)
      expect((await strangers.satchel(['get', sharing_link, '-o', '-'])).out).toBe('hello')
    expect(await strangers.refused('get', sharing_link, '-o', 'x')).toMatchObject({
      code: 3,
      error: { code: 'SHARE_USED_UP' },
    })
    expect(readdirSync(strangers.home).filter(name => !name.endsWith('.part'))).toEqual([])
  })

  it('with a password does not take it as an argument', async () => {
    const { out, code } = await shell.satchel(['quick-share', 'docs/b.txt', '--password'], {
      stdin: 'open sesame\n',
    })
    expect(code).toBe(0)
    const link = out.trim()
    expect(await strangers.refused('get', link)).toMatchObject({
      code: 3,
      error: { code: 'PASSWORD_REQUIRED' },
    })
    const open = (password: string) =>
      strangers.satchel(['get', link, '--password', '-o', '-'], { stdin: password })
    expect(await open('wrong')).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringContaining('(WRONG_PASSWORD)'),
    })
    expect(await open('open sesame')).toMatchObject({ code: 0, out: 'bee' })
  })
})

describe('satchel save', () => {
  it('copies the files of a link into your own files', async () => {
    const { shares } = await shell.json('share', 'docs', '--with', 'bob@example.com')
    const [{ sharing_link: link }] = shares
    expect(await bobs.json('save', link, '--to', 'from alice')).toEqual({
      saved: [{ path: '/from alice/docs' }],
    })
    expect(await bobs.json('save', link, 'b.txt', 'a.txt')).toEqual({
      saved: [{ path: '/b.txt' }, { path: '/a.txt' }],
    })
    expect(await bobs.refused('save', link, 'a.txt')).toMatchObject({
      code: 5,
      error: { code: 'PATH_EXISTS' },
    })
    expect((await bobs.satchel(['save', '-k', link, 'a.txt'])).out).toBe('/a (2).txt\n')
    await bobs.json('save', '--replace', link, 'a.txt')
    expect(await bobs.refused('save', link, 'none')).toMatchObject({
      code: 4,
      error: { code: 'FILE_NOT_FOUND' },
    })
    expect(await strangers.refused('save', link)).toMatchObject({
      code: 3,
      error: { code: 'NOT_SIGNED_IN' },
    })
  })

  it('asks for the password', async () => {
    const { out } = await shell.satchel(['quick-share', 'docs/b.txt', '--password'], {
      stdin: 'open sesame\n',
    })
    expect(await bobs.refused('save', out.trim())).toMatchObject({
      code: 3,
      error: { code: 'PASSWORD_REQUIRED' },
    })
    const saved = await bobs.satchel(['save', out.trim(), '--password', '--to', 'locked'], {
      stdin: 'open sesame',
    })
    expect(saved).toMatchObject({ code: 0, out: '/locked/b.txt\n' })
  })
})

describe('satchel shares and revoke', () => {
  it('lists your shares, and revokes one by link or token', async () => {
    const { shares } = await shell.json('shares')
    expect(shares.length).toBeGreaterThan(3)
    expect(shares[0]).toMatchObject({
      path: '/docs/a.txt',
      shared_for: 'bob@example.com',
      expires_at: aTime,
      downloads: 1,
    })
    const { out } = await shell.satchel(['shares'])
    expect(out).toMatch(/^FILE +WITH +UNTIL +DOWNLOADS/)
    expect(out).toContain('anyone with the link')

    const [{ sharing_token: token }, { sharing_link: link }] = shares
    expect(await shell.json('revoke', token, link)).toEqual({
      revoked: [token, link.split('/').at(-1)],
    })
    expect((await shell.json('shares')).shares).toHaveLength(shares.length - 2)
    expect(await bobs.refused('get', link)).toMatchObject({
      code: 4,
      error: { code: 'SHARE_NOT_FOUND' },
    })
    expect(await shell.refused('revoke', token)).toMatchObject({
      code: 4,
      error: { code: 'SHARE_NOT_FOUND' },
    })
    expect(await bobs.refused('revoke', shares[2].sharing_token)).toMatchObject({
      code: 3,
      error: { code: 'FORBIDDEN' },
    })
    expect(await shell.refused('revoke', 'https://example.com/x')).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
    for (const args of [
      ['revoke', 'https://example.com/share/abc'],
      ['workspace', 'accept', 'https://example.com/invite/abc'],
    ])
      expect(await shell.refused(...args)).toMatchObject({
        code: 2,
        error: {
          code: 'USAGE',
          message: expect.stringContaining(
            'belongs to https://example.com, but you are signed in at',
          ),
        },
      })
  })
})

describe('satchel links edit', () => {
  it('changes a share, and keeps its link', async () => {
    const made = await shell.json(
      'quick-share',
      'docs/a.txt',
      '--label',
      'one',
      '--view-only',
      '--for',
      'never',
    )
    expect(made.expires_at).toBeNull()
    const edit = (...options: string[]) =>
      shell.json('links', 'edit', made.sharing_link, ...options)
    expect(
      await edit('--label', 'two', '--expires', '2 weeks', '--limit', '3', '--notify-me'),
    ).toMatchObject({
      sharing_link: made.sharing_link,
      path: '/docs/a.txt',
      label: 'two',
      max_downloads: 3,
      allow_download: false,
      expires_at: aTime,
    })
    expect(
      await edit('--download', '--no-limit', '--no-password', '--expires', 'never'),
    ).toMatchObject({
      label: 'two',
      max_downloads: null,
      allow_download: true,
      expires_at: null,
      password_protected: false,
    })
    const { out } = await shell.satchel(['shares'])
    expect(out).toMatch(/docs\/a\.txt +anyone with the link +never +0 +two +http/)
    expect(await shell.refused('links', 'edit', made.sharing_link)).toMatchObject({ code: 2 })
    expect(await bobs.refused('links', 'edit', made.sharing_link, '--label', 'x')).toMatchObject({
      code: 3,
    })
  })
})

describe('Files of a workspace', () => {
  it('are shared by members who may write there', async () => {
    const id = await found(alice)
    await put(alice, id, 'beds/rose.txt', 'roses')
    const made = await shell.json('quick-share', 'garden:/beds/rose.txt')
    expect(made.path).toBe('garden:/beds/rose.txt')
    expect((await strangers.satchel(['get', made.sharing_link, '-o', '-'])).out).toBe('roses')
    const { shares } = await shell.json('share', 'garden:/beds', '--with', 'bob@example.com')
    expect(shares).toMatchObject([{ path: 'garden:/beds' }])
    const paths = (await shell.json('shares')).shares.map((s: { path: string }) => s.path)
    expect(paths).toEqual(
      expect.arrayContaining(['garden:/beds/rose.txt', 'garden:/beds', '/docs/a.txt']),
    )
    const mixed = await shell.refused(
      'share',
      'garden:/beds',
      'docs/a.txt',
      '--with',
      'bob@example.com',
    )
    expect(mixed).toMatchObject({ code: 2 })
  })
})
