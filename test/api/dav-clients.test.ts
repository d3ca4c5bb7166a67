import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { davPerson } from '../support/dav-client.ts'
import { startApp, type TestApp } from '../support/harness.ts'
import { isInstalled, testWith } from '../support/programs.ts'

const run = promisify(execFile)

let t: TestApp
let email: string
let key: string
const dir = mkdtempSync(join(tmpdir(), 'satchel-dav-'))
beforeAll(async () => {
  t = await startApp()
  const { person, key: program } = await davPerson(t, 'alice')
  email = person.email
  key = program.key
})
afterAll(async () => {
  await t.stop()
  rmSync(dir, { recursive: true })
})

describe('litmus', () => {
  testWith('litmus').each(['basic', 'copymove', 'props', 'locks', 'http'])(
    'passes %s (Debian: litmus)',
    async suite => {
      const { stdout } = await run('litmus', [`${t.url}/dav/files/`, email, key], {
        env: { ...process.env, TESTS: suite },
        cwd: dir,
      }).catch(error => error)
      expect(stdout).toMatch(/summary for `\w+': of \d+ tests run: \d+ passed, 0 failed/)
      expect(stdout.split('\n').filter((line: string) => /FAIL|WARNING/.test(line))).toEqual([])
    },
  )
})

describe('rclone', () => {
  const remote = (vendor = 'owncloud') =>
    `:webdav,url='${t.url}/dav/files/',vendor=${vendor},user='${email}',pass='${obscured}':`
  let obscured = ''
  beforeAll(async () => {
    if (isInstalled('rclone')) obscured = (await run('rclone', ['obscure', key])).stdout.trim()
  })
  const rclone = (...args: string[]) =>
    run('rclone', ['--config', '/dev/null', '--retries', '1', ...args], {
      maxBuffer: 64 * 1024 * 1024,
    })

  testWith('rclone')(
    'copies, syncs and checks folders in both directions (Debian: rclone)',
    async () => {
      const local = join(dir, 'local')
      for (let i = 0; i < 40; i++) {
        const folder = join(local, `folder ${i % 4}`, 'ü 漢字')
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, `file ${i} #%&.txt`), 'x'.repeat(i * 1000))
      }
      await rclone('copy', local, `${remote()}synced`)
      await rclone('check', '--download', local, `${remote()}synced`)
      rmSync(join(local, 'folder 0'), { recursive: true })
      writeFileSync(join(local, 'new'), 'new')
      await rclone('sync', local, `${remote()}synced`)
      await rclone('check', '--download', local, `${remote()}synced`)
      await rclone('moveto', `${remote()}synced/new`, `${remote()}synced/renamed`)
      const back = join(dir, 'back')
      await rclone('sync', `${remote()}synced`, back)
      // Compares checksums without reading a file.
      const { stderr } = await rclone('check', back, `${remote()}synced`)
      expect(stderr).toContain(' 0 differences found')
      expect(stderr).not.toMatch(/hashes could not be checked/)
      expect((await rclone('cat', `${remote()}synced/renamed`)).stdout).toBe('new')
      expect(JSON.parse((await rclone('about', '--json', remote())).stdout).used).toBeGreaterThan(0)
    },
    120_000,
  )

  testWith('rclone')('is set up by the command of docs/connect.md', async () => {
    const [, command = ''] =
      /`(rclone config create [^`]+)`/.exec(readFileSync('docs/connect.md', 'utf8')) ?? []
    const own = { 'https://files.example.org': t.url, 'you@example.org': email, KEY: key }
    const words = Object.entries(own)
      .reduce((text, [given, mine]) => text.replace(given, mine), command)
      .split(' ')
    const env = { ...process.env, RCLONE_CONFIG: join(dir, 'rclone.conf') }
    await run('rclone', words.slice(1), { env })
    const rclone = (...args: string[]) => run('rclone', ['--retries', '1', ...args], { env })
    expect((await rclone('lsf', 'satchel:')).stdout).toContain('synced/')
    // Names that Satchel refuses. rclone encodes them.
    const odd = join(dir, 'odd')
    mkdirSync(join(odd, ' folder '), { recursive: true })
    for (const name of [' folder /x', ' a', 'b ', 'c\\d', 'e\u0007f', '␠g', 'gone'])
      writeFileSync(join(odd, name), name)
    // A file name that is not UTF-8.
    writeFileSync(Buffer.concat([Buffer.from(join(odd, 'h')), Buffer.from([0xff])]), 'h')
    await rclone('sync', odd, 'satchel:odd')
    rmSync(join(odd, 'gone'))
    await rclone('sync', odd, 'satchel:odd')
    expect((await rclone('lsf', 'satchel:odd')).stdout).not.toContain('gone')
    expect((await rclone('check', odd, 'satchel:odd')).stderr).toContain(' 0 differences found')
    expect((await rclone('sync', '-v', odd, 'satchel:odd')).stderr).toContain(
      'There was nothing to transfer',
    )
  })

  testWith('rclone').each(['owncloud', 'nextcloud'])(
    'keeps times with vendor=%s, so that a second sync and bisync have nothing to do',
    async vendor => {
      const [here, back] = [join(dir, vendor), join(dir, `${vendor}-back`)]
      const there = `${remote(vendor)}times-${vendor}`
      const times = [
        '1999-12-31T23:59:58.000Z',
        '2017-07-14T02:40:00.257Z',
        '2091-03-05T01:02:03.000Z',
      ]
      const [first = ''] = times
      mkdirSync(here)
      for (const [i, time] of times.entries()) {
        writeFileSync(join(here, `${i}`), `file ${i}`)
        utimesSync(join(here, `${i}`), new Date(time), new Date(time))
      }
      const seconds = (path: string) => Math.floor(statSync(path).mtimeMs / 1000)
      await rclone('sync', here, there)
      expect((await rclone('sync', '-v', here, there)).stderr).toContain(
        'There was nothing to transfer',
      )
      await rclone('copyto', `${there}/0`, `${there}/copy`)
      await rclone('moveto', `${there}/copy`, `${there}/3`)
      await rclone('sync', there, back)
      expect((await rclone('sync', '-v', there, back)).stderr).toContain(
        'There was nothing to transfer',
      )
      for (const [i, time] of [...times, first].entries())
        expect(seconds(join(back, `${i}`))).toBe(Math.floor(Date.parse(time) / 1000))
      const both = ['bisync', back, there, '-v', '--workdir', join(dir, `${vendor}-bisync`)]
      await rclone(...both, '--resync')
      // The same content with an older time, and other content of the same size with another time.
      utimesSync(join(back, '2'), new Date(first), new Date(first))
      writeFileSync(join(here, '1'), 'FILE 1')
      utimesSync(
        join(here, '1'),
        new Date('2001-02-03T04:05:06Z'),
        new Date('2001-02-03T04:05:06Z'),
      )
      await rclone('copyto', join(here, '1'), `${there}/1`)
      await rclone(...both)
      expect([readFileSync(join(back, '1'), 'utf8'), seconds(join(back, '1'))]).toEqual([
        'FILE 1',
        981173106,
      ])
      const listed: { Name: string; ModTime: string }[] = JSON.parse(
        (await rclone('lsjson', there)).stdout,
      )
      const changed = listed.find(({ Name }) => Name === '2')?.ModTime ?? ''
      expect(Date.parse(changed)).toBe(Date.parse(first))
      expect((await rclone(...both)).stderr).toContain('No changes found')
    },
    120_000,
  )
})

describe('git-annex', () => {
  testWith('git-annex').each([['without chunks'], ['with chunks', 'chunk=1MiB']])(
    'passes the test of special remotes %s (Debian: git-annex)',
    async (_how, ...options) => {
      const home = mkdtempSync(join(dir, 'annex-'))
      const env = {
        ...process.env,
        HOME: home,
        WEBDAV_USERNAME: email,
        WEBDAV_PASSWORD: key,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.org',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.org',
      }
      const given = { env, cwd: home, maxBuffer: 64 * 1024 * 1024 }
      await run('git', ['init', '-q'], given)
      await run('git', ['config', 'annex.security.allowed-ip-addresses', 'all'], given)
      await run('git-annex', ['init', 'here'], given)
      const url = `url=${t.url}/dav/files/annex-${options.length}`
      const remote = ['type=webdav', url, 'encryption=none', ...options]
      await run('git-annex', ['initremote', 'there', ...remote], given)
      const { stdout } = await run('git-annex', ['testremote', '--fast', 'there'], given)
      expect(stdout).toMatch(/All \d+ tests passed/)
    },
    120_000,
  )
})

describe('cadaver', () => {
  testWith('cadaver')('works with files, locks and properties (Debian: cadaver)', async () => {
    const machine = `machine localhost\nlogin ${email}\npassword ${key}\n`
    writeFileSync(join(dir, '.netrc'), machine, { mode: 0o600 })
    writeFileSync(join(dir, 'one.txt'), 'one')
    const steps = [
      ...[
        'mkcol box',
        'put one.txt box/one.txt',
        'lock box/one.txt',
        'put one.txt box/one.txt',
        'unlock box/one.txt',
      ],
      ...[
        'propset box/one.txt colour blue',
        'copy box/one.txt box/two.txt',
        'move box/two.txt box/three.txt',
      ],
      ...[
        'propget box/three.txt colour',
        'get box/three.txt back.txt',
        'ls box',
        'rmcol box',
        'quit',
      ],
    ]
    const env = { ...process.env, HOME: dir }
    const running = run('cadaver', [`${t.url}/dav/files/`], { cwd: dir, env, timeout: 60_000 })
    running.child.stdin?.end(steps.join('\n'))
    const { stdout } = await running
    expect(stdout).not.toContain('failed')
    expect(stdout).toContain('Value of colour is: blue')
    expect(stdout).toContain('three.txt')
    expect(readFileSync(join(dir, 'back.txt'), 'utf8')).toBe('one')
  })
})
