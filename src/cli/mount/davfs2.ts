import { spawn } from 'node:child_process'
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Failure } from '../failure.ts'
import { isMounted, untilMounted } from './mount-point.ts'
import type { Plan, Serving } from './rclone.ts'

/**
 * The user types the key, so it is not in the settings. Without `buf_size`, davfs2 before 1.7.2
 * sends directories in smaller chunks than Linux 6.16 and later read.
 */
const SETTINGS = `buf_size 64
use_locks 1
ask_auth 1
delay_upload 0
`

const LOOK_MS = 1000

/** A value in davfs2.conf. */
const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** @throws MOUNT_FAILED */
export async function mountByDavfs2(plan: Plan, user: string): Promise<Serving> {
  const { program, target, directory, folder, readOnly, authorities } = plan
  const conf = join(folder, 'davfs2.conf')
  // davfs2 reads the certificate as a user of its own, who may not read the folder of the mount.
  const shared = authorities && (await mkdtemp(join(tmpdir(), 'satchel-mount-')))
  let trust = ''
  if (shared) {
    const file = join(shared, 'authority.pem')
    await copyFile(authorities, file)
    for (const path of [shared, file]) await chmod(path, 0o755)
    trust = `trust_ca_cert ${quoted(file)}\n`
  }
  await writeFile(conf, `${SETTINGS}${trust}`, { mode: 0o600 })
  const options = [`conf=${conf}`, readOnly ? 'ro' : 'rw']
  const child = spawn(program, [target.url, directory, '-o', options.join(',')], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  child.stdin.on('error', () => {})
  child.stdin.end(`${user}\n${target.key}\n`)
  const [said, code] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>(resolve => {
      child.once('exit', resolve)
      child.once('error', () => resolve(null))
    }),
  ])
  await rm(conf, { force: true })
  if (shared) await rm(shared, { recursive: true, force: true })
  if (code !== 0 || !(await untilMounted(directory, true, { timeoutMs: LOOK_MS })))
    throw new Failure(
      'MOUNT_FAILED',
      `davfs2 could not mount ${directory}: ${said.trim().split('\n').at(-1)}`,
    )
  return { pid: await pidOf(directory), ended: ending(directory) }
}

/** davfs2 daemonizes itself and writes its process id to a file. */
async function pidOf(directory: string): Promise<number | null> {
  const name = directory.replace(/^\//, '').replaceAll('/', '-')
  const text = await readFile(`/run/mount.davfs/${name}.pid`, 'utf8').catch(() => '')
  return Number(text) || null
}

async function ending(directory: string): Promise<void> {
  while (await isMounted(directory))
    await new Promise(resolve => setTimeout(resolve, LOOK_MS).unref())
}
