import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { privateKey } from '../../support/builders.ts'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { makeCa, type PrivateCa } from '../../support/private-ca.ts'
import { startTlsFront } from '../../support/tls-front.ts'
import { until } from '../../support/until.ts'

const isUsable = (path: string) => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}
const isThere = (program: string, flag: string) =>
  !spawnSync(program, [flag], { stdio: 'ignore' }).error
const hasFuse = process.platform === 'linux' && isUsable('/dev/fuse')
/** Without FUSE, as in many containers, the tests are reported as skipped. */
const withFuse = hasFuse ? it : it.skip
const withRclone = hasFuse && isThere('rclone', 'version') ? it : it.skip
const withDavfs =
  hasFuse && process.getuid?.() === 0 && isThere('/usr/sbin/mount.davfs', '-V') ? it : it.skip

let t: TestApp
let alice: Person
let key: string
let shell: Shell
beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('docs/a.txt', 'a')
  await alice.upload('docs/deep er/#1.txt', 'one')
  key = (await privateKey(t, alice)).key
})
afterAll(() => t.stop())
beforeEach(() => {
  shell = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: key })
})
afterEach(async () => {
  // Unmounts what a failed test has left mounted.
  for (const { directory } of (await shell.json('mount')).mounts)
    await shell.satchel(['unmount', '--force', directory])
  shell.close()
})

const at = (path: string) => join(shell.home, path)
const read = async (path: string) => {
  const { response } = await alice.rest(
    'GET',
    `/api/user/private/download_token?file=${encodeURIComponent(path)}`,
  )
  const { headers } = await alice.rest('GET', `/api/d/private/${response.private_download_token}`)
  return (await fetch(headers.get('location') ?? '')).text()
}
/** Asynchronous, because the service that the mount calls runs in this process. */
const isReadable = (path: string) =>
  readFile(path).then(
    () => true,
    () => false,
  )
const commandLines = () =>
  readdirSync('/proc').flatMap(pid => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : []
    } catch {
      return []
    }
  })
const session = () => ({
  SATCHEL_KEY: '',
  SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
})
/** Runs a new process, because warm processes have already loaded their authorities. */
const runProcess = (args: string[], env: Record<string, string>) =>
  ended(shell.begin(args, { env }))
const keyNames = async () =>
  JSON.parse((await shell.satchel(['keys', 'list', '--json'], { env: session() })).out).keys.map(
    ({ name }: { name: string }) => name,
  )

describe('satchel mount', () => {
  withRclone(
    'mounts a folder with rclone, and exits when everything is uploaded',
    async () => {
      const made = await shell.json('mount', ':/docs', 'm')
      expect(made).toEqual({
        directory: at('m'),
        path: '/docs',
        service: t.url,
        with: 'rclone',
        read_only: false,
      })
      expect(await readFile(at('m/deep er/#1.txt'), 'utf8')).toBe('one')
      await writeFile(at('m/new ü.txt'), 'new')
      const serving = commandLines().filter(line => line.includes(at('m')))
      expect(serving).toHaveLength(1)
      expect(serving.join().includes(key)).toBe(false)
      expect((await shell.json('mount')).mounts).toEqual([made])
      expect((await shell.refused('mount', ':/docs', 'm')).error.code).toBe('TARGET_EXISTS')
      const { code, out, err } = await shell.satchel(['unmount', 'm'])
      expect([code, out, err]).toEqual([
        0,
        `Unmounted ${at('m')}.\n`,
        'Waiting for 1 file to be uploaded.\n',
      ])
      expect(await read('docs/new ü.txt')).toBe('new')
      // The folder was created for the mount.
      expect(existsSync(at('m'))).toBe(false)
      expect((await shell.json('mount')).mounts).toEqual([])
      expect(commandLines().filter(line => line.includes(at('m')))).toEqual([])
      expect(
        readdirSync(at('state/satchel/mounts')).filter(name => !name.endsWith('.lock')),
      ).toEqual([])
    },
    60_000,
  )

  withRclone(
    'stores file names that Satchel refuses, and shows them unchanged',
    async () => {
      await shell.json('mount', ':/docs', 'odd')
      const names = [' a', 'b ', 'c\\d']
      for (const name of names) await writeFile(at(`odd/${name}`), name)
      await shell.satchel(['unmount', 'odd'])
      expect(await read('docs/␠a')).toBe(' a')
      await shell.json('mount', ':/docs', 'odd')
      expect(await readdir(at('odd'))).toEqual(expect.arrayContaining(names))
    },
    60_000,
  )

  withRclone(
    'runs in the foreground until a signal, and deletes a key that it created',
    async () => {
      mkdirSync(at('mine'))
      const command = shell.begin(['mount', '--foreground', '--read-only', '/docs', 'mine'], {
        env: session(),
      })
      const end = ended(command)
      await until(() => isReadable(at('mine/a.txt')))
      await expect(writeFile(at('mine/b.txt'), 'b')).rejects.toMatchObject({ code: 'EROFS' })
      expect((await keyNames()).filter((name: string) => name.startsWith('Mount on'))).toHaveLength(
        1,
      )
      command.kill('SIGINT')
      expect((await end).code).toBe(130)
      expect(readdirSync(at('mine'))).toEqual([])
      expect((await keyNames()).filter((name: string) => name.startsWith('Mount on'))).toEqual([])
    },
    60_000,
  )

  withRclone(
    'mounts a folder once for two commands at the same time, and two folders separately',
    async () => {
      const both = await Promise.all(
        ['m', 'm', 'other'].map(folder =>
          shell.satchel(['mount', '/docs', folder], { env: session() }),
        ),
      )
      expect(both.map(({ code }) => code).sort()).toEqual([0, 0, 5])
      expect(both.map(({ err }) => err).join('')).toMatch(/MOUNT_BUSY|TARGET_EXISTS/)
      expect((await keyNames()).filter((name: string) => name.startsWith('Mount on'))).toHaveLength(
        2,
      )
      expect(await readFile(at('m/a.txt'), 'utf8')).toBe('a')
      for (const folder of ['m', 'other'])
        expect((await shell.satchel(['unmount', folder], { env: session() })).code).toBe(0)
      expect((await keyNames()).filter((name: string) => name.startsWith('Mount on'))).toEqual([])
    },
    60_000,
  )

  withRclone(
    'never kills another process that reuses the id of its program',
    async () => {
      await shell.satchel(['mount', '/docs', 'm'])
      const { file, text } = mountFile()
      const { pid } = JSON.parse(text)
      const other = spawn('sleep', ['60'])
      writeFileSync(file, text.replace(`"pid":${pid}`, `"pid":${other.pid}`))
      process.kill(pid, 'SIGKILL')
      await until(async () => !(await isReadable(at('m/a.txt'))))
      expect((await shell.satchel(['unmount', 'm'])).code).toBe(0)
      expect([other.exitCode, other.signalCode]).toEqual([null, null])
      other.kill()
    },
    60_000,
  )

  withRclone(
    'cleans up after a mount whose program was killed',
    async () => {
      await shell.satchel(['mount', '/docs', 'm'], { env: session() })
      const pid = Number(/"pid":(\d+)/.exec(mountFile().text)?.[1])
      process.kill(pid, 'SIGKILL')
      await until(async () => !(await isReadable(at('m/a.txt'))))
      const { code } = await shell.satchel(['unmount', 'm'], { env: session() })
      expect(code).toBe(0)
      expect((await keyNames()).filter((name: string) => name.startsWith('Mount on'))).toEqual([])
      expect((await shell.json('mount')).mounts).toEqual([])
    },
    60_000,
  )

  withDavfs(
    'mounts with davfs2, with a listing that works on every Linux',
    async () => {
      await shell.json('mount', '--with', 'davfs2', '/docs', 'm')
      expect(await readdir(at('m'))).toEqual(expect.arrayContaining(['a.txt', 'deep er']))
      await writeFile(at('m/by davfs.txt'), 'davfs')
      expect((await shell.satchel(['unmount', 'm'])).code).toBe(0)
      expect(await read('docs/by davfs.txt')).toBe('davfs')
    },
    60_000,
  )

  describe('at a service whose certificate is signed by a private authority', () => {
    let ca: PrivateCa
    let front: Awaited<ReturnType<typeof startTlsFront>>
    let env: Record<string, string>
    beforeAll(async () => {
      ca = makeCa()
      front = await startTlsFront(
        ca.issue('service', ['DNS:localhost']),
        Number(new URL(t.url).port),
      )
      // The file may start with unrelated authorities.
      const unrelated = makeCa()
      const file = join(ca.dir, 'both.pem')
      writeFileSync(file, `${readFileSync(unrelated.file)}${readFileSync(ca.file)}`)
      unrelated.remove()
      env = { SATCHEL_URL: `https://localhost:${front.port}`, SATCHEL_CA_FILE: file }
    })
    afterAll(() => {
      front.stop()
      ca.remove()
    })

    for (const [program, test] of [
      ['rclone', withRclone],
      ['davfs2', withDavfs],
    ] as const)
      test(`mounts with ${program} and SATCHEL_CA_FILE`, async () => {
        const { code, err } = await runProcess(['mount', '--with', program, '/docs', 'm'], env)
        expect([code, err]).toEqual([0, ''])
        expect(await readFile(at('m/a.txt'), 'utf8')).toBe('a')
        expect((await runProcess(['unmount', 'm'], env)).code).toBe(0)
      })
  })

  withFuse(
    'passes the key in the environment only, and explains why a program failed',
    async () => {
      const program = `#!/bin/sh\nprintf '%s\\n' "$@" > "$HOME/args"\nenv > "$HOME/env"\nfor log in "$HOME"/state/satchel/mounts/*/log; do echo '2026/01/01 10:00:00 Fatal error: no luck' >> "$log"; done\nexit 1\n`
      mkdirSync(at('bin'))
      writeFileSync(at('bin/rclone'), program)
      chmodSync(at('bin/rclone'), 0o755)
      const env = { PATH: `${at('bin')}:${process.env.PATH}` }
      const { code, err } = await shell.satchel(['mount', '--read-only', '/docs', 'm'], { env })
      expect([code, err]).toEqual([
        1,
        `error: rclone could not mount ${at('m')}: Fatal error: no luck (MOUNT_FAILED)\n`,
      ])
      const args = readFileSync(at('args'), 'utf8')
      expect(args.split('\n')).toEqual(
        expect.arrayContaining(['mount', 'satchel:', at('m'), '--read-only', 'writes']),
      )
      expect(args).not.toContain(key)
      const given = readFileSync(at('env'), 'utf8')
      expect(given).toContain(`RCLONE_CONFIG_SATCHEL_URL=${t.url}/dav/files/docs/\n`)
      expect(given).toContain(`RCLONE_CONFIG_SATCHEL_BEARER_TOKEN=${key}\n`)
      expect(existsSync(at('m'))).toBe(false)
    },
  )

  withFuse('says what to install', async () => {
    const env = { PATH: at('bin') }
    const { code, err } = await shell.satchel(['mount', '--with', 'rclone', '/docs', 'm'], { env })
    expect(code).toBe(1)
    expect(err).toContain('rclone is not installed. Install rclone and fuse3')
  })

  withRclone('refuses what is no folder, is not there, or would hide files', async () => {
    expect((await shell.refused('mount', '/docs/a.txt', 'm')).error.code).toBe('USAGE')
    expect((await shell.refused('mount', '/nowhere', 'm')).error.code).toBe('NOT_FOUND')
    expect((await shell.refused('mount', '/docs')).error.code).toBe('USAGE')
    mkdirSync(at('full/x'), { recursive: true })
    expect((await shell.refused('mount', '/docs', 'full')).error.code).toBe('TARGET_EXISTS')
    expect((await shell.refused('unmount', 'full')).error.code).toBe('NOT_FOUND')
    expect((await shell.json('mount')).mounts).toEqual([])
  })
})

/** The stored state of the only mount. */
function mountFile(): { file: string; text: string } {
  const folder = at('state/satchel/mounts')
  const [id = ''] = readdirSync(folder).filter(name => !name.includes('.lock'))
  const file = join(folder, id, 'mount.json')
  return { file, text: readFileSync(file, 'utf8') }
}
