import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from '@jest/globals'
import type { BuiltService } from '../../support/built-service.ts'
import { basic } from '../../support/dav-client.ts'
import { freePort } from '../../support/free-port.ts'
import { randomFrom } from '../../support/fuzz.ts'
import { nextcloudClient } from '../../support/nextcloud-client.ts'
import { testWith } from '../../support/programs.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'

// Kills the service at random moments of a sync, also while it assembles a file from its chunks.

const ROUNDS = Number(process.env.ROUNDS ?? 6)
const LARGE = 22_000_000

const dir = mkdtempSync(join(tmpdir(), 'satchel-nextcloud-kills-'))
const local = join(dir, 'local')
let service: ServiceProcess
let running: BuiltService
beforeAll(async () => {
  service = await startServiceProcess({ PORT: String(await freePort()) })
  running = service
}, 120_000)
afterAll(async () => {
  await service?.stop()
  rmSync(dir, { recursive: true })
})

/** Runs one sync. @returns the exit code */
function sync(email: string, key: string): { done: Promise<number | null> } {
  const home = join(dir, 'home')
  mkdirSync(home, { recursive: true })
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  const args = ['--non-interactive', '-u', email, '-p', key, local, service.url]
  const child = spawn('nextcloudcmd', args, { env, stdio: 'ignore' })
  return { done: new Promise(resolve => child.on('exit', resolve)) }
}

const localFiles = () =>
  new Map(
    readdirSync(local)
      .filter(name => !/^\._?sync|^\.sync_|\.log$/.test(name))
      .sort()
      .map(name => [name, readFileSync(join(local, name), 'latin1')]),
  )

const test = testWith('nextcloudcmd')

test('a sync past kills of the service loses nothing and doubles nothing', async () => {
  const [person] = await service.signIn('killed-sync')
  if (!person) throw new Error('Nobody has signed in.')
  const scopes = ['read', 'write', 'delete'].map(level => `private_files:${level}`)
  const made = await person.rest('POST', '/api/api_keys/private/create', {
    json: { name: 'sync', scopes },
  })
  const { key } = made.response.api_key
  const client = nextcloudClient(service, basic(person.email, key))
  const root = `/remote.php/dav/files/${person.email}/`
  const model = new Map<string, string>()
  const random = randomFrom(1848)
  let count = 0
  let seconds = 1_700_000_000
  mkdirSync(local, { recursive: true })

  function change(): void {
    const names = [...model.keys()]
    const name = names[Math.floor(random() * names.length)]
    const kind = random()
    if (name !== undefined && kind < 0.2) {
      const renamed = `renamed-${++count}.bin`
      renameSync(join(local, name), join(local, renamed))
      model.set(renamed, model.get(name) ?? '')
      model.delete(name)
    } else if (name !== undefined && kind < 0.3) {
      rmSync(join(local, name))
      model.delete(name)
    } else {
      const to = name !== undefined && kind < 0.5 ? name : `file-${++count}.bin`
      const size = random() < 0.4 ? LARGE : Math.floor(random() * 5000)
      const bytes = Buffer.alloc(size, `${to} ${++count} `)
      writeFileSync(join(local, to), bytes)
      utimesSync(join(local, to), ++seconds, seconds)
      model.set(to, bytes.toString('latin1'))
    }
  }

  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < 3; i++) change()
    const killed = sync(person.email, key)
    await new Promise(resolve => setTimeout(resolve, 300 + random() * 4000))
    await running.end('SIGKILL')
    await killed.done
    running = await service.another()
    let code: number | null = 1
    for (let attempt = 0; attempt < 4 && code !== 0; attempt++)
      code = await sync(person.email, key).done
    expect([round, code]).toEqual([round, 0])
    const wanted = [...model].sort()
    expect([...localFiles()].map(([name, bytes]) => [name, bytes.length])).toEqual(
      wanted.map(([name, bytes]) => [name, bytes.length]),
    )
    const [, ...listed] = await client.propfind(root)
    expect(listed.map(({ href }) => href.slice(root.length)).sort()).toEqual(
      wanted.map(([name]) => name),
    )
    for (const [name, bytes] of wanted) {
      const { text } = await client.send('GET', `${root}${name}`)
      expect([round, name, text === bytes, localFiles().get(name) === bytes]).toEqual([
        round,
        name,
        true,
        true,
      ])
    }
  }
  // What the kills left behind is accounted for.
  await service.expectHealed()
}, 1_800_000)
