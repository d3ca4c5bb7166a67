import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from '@jest/globals'
import { startApp, type TestApp } from '../../support/harness.ts'
import { testWith } from '../../support/programs.ts'

// The desktop program of Nextcloud (Debian: nextcloud-desktop, xvfb, xdotool, dbus), with a browser
// that only notes the URL that it is to open.

const DISPLAY = ':77'

/** A session bus that starts no other programs, such as a keyring that asks for a password. */
const BUS = `<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>`

let t: TestApp
const dir = mkdtempSync(join(tmpdir(), 'satchel-desktop-'))
const running: ChildProcess[] = []
beforeAll(async () => {
  t = await startApp()
})
afterAll(async () => {
  for (const { pid } of running) if (pid) process.kill(-pid, 'SIGKILL')
  await t.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** Waits until a condition is true. @throws after two minutes */
async function patiently(isMet: () => boolean | Promise<boolean>, meanwhile?: () => void) {
  for (let i = 0; i < 40; i++) {
    if (await isMet()) return
    await new Promise(resolve => setTimeout(resolve, 3000))
    meanwhile?.()
  }
  throw new Error('This has not happened in two minutes.')
}

const test = testWith('nextcloud', 'Xvfb', 'xdotool', 'dbus-run-session')

test('the desktop program signs in through a browser, and syncs both ways', async () => {
  const person = await t.signIn('desktop')
  await person.upload('documents/plan.txt', 'plan')
  const [opened, local, bin] = ['opened', 'local', 'bin'].map(name => join(dir, name))
  if (!opened || !local || !bin) throw new Error('There are no paths.')
  for (const name of [bin, join(dir, 'home'), join(dir, 'run')]) mkdirSync(name, { mode: 0o700 })
  for (const name of ['xdg-open', 'x-www-browser', 'sensible-browser']) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "$1" >> ${opened}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  writeFileSync(join(dir, 'bus.conf'), BUS)
  const home = join(dir, 'home')
  const env = {
    ...process.env,
    DISPLAY,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_DATA_HOME: home,
    XDG_RUNTIME_DIR: join(dir, 'run'),
    PATH: `${bin}:${process.env.PATH}`,
    QT_QUICK_BACKEND: 'software',
  }
  const begin = (program: string, args: string[]) =>
    running.push(spawn(program, args, { env, stdio: 'ignore', detached: true }))
  begin('Xvfb', [DISPLAY, '-screen', '0', '1024x768x24'])
  await patiently(() => existsSync(`/tmp/.X11-unix/X${DISPLAY.slice(1)}`))
  const program = ['--overrideserverurl', t.url, '--overridelocaldir', local]
  begin('dbus-run-session', [`--config-file=${join(dir, 'bus.conf')}`, 'nextcloud', ...program])
  // The program opens the page of the login flow by itself.
  await patiently(() => existsSync(opened))
  const userCode = new URL(readFileSync(opened, 'utf8').trim()).searchParams.get('user_code') ?? ''
  const answer = { account: person.userId, answer: 'approve', user_code: userCode }
  await person.rest('POST', '/device', {
    body: new URLSearchParams(answer).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: t.url },
  })
  const pressReturn = () => void spawnSync('xdotool', ['key', 'Return'], { env })
  const plan = join(local, 'documents/plan.txt')
  await patiently(() => existsSync(plan), pressReturn)
  expect(readFileSync(plan, 'utf8')).toBe('plan')
  writeFileSync(join(local, 'from-desktop.txt'), 'from the desktop')
  await patiently(async () =>
    (await person.rest('GET', '/api/files/tree?path=')).text.includes('from-desktop.txt'),
  )
  const { response } = await person.rest('GET', '/api/api_keys/private/list')
  expect(JSON.stringify(response)).toContain('(Desktop Client')
}, 420_000)
