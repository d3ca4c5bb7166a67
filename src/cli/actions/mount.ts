import { execFile } from 'node:child_process'
import { realpath, rmdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Failure, isFailure, toFailure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import { writeAuthorities } from '../mount/authorities.ts'
import { mountByDavfs2 } from '../mount/davfs2.ts'
import { findProgram, isMounted, prepareDirectory, untilMounted } from '../mount/mount-point.ts'
import { chooseMounter } from '../mount/mounter.ts'
import { countPending, mountByRclone, type Serving } from '../mount/rclone.ts'
import {
  aloneAt,
  folderOf,
  forget,
  isKept,
  keep,
  type Mounted,
  type Mounter,
  mountId,
  readMounts,
} from '../mount/registry.ts'
import { isServing } from '../mount/serving.ts'
import { deleteKey, targetOf } from '../mount/webdav.ts'
import { notFound } from '../place.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { plural, table } from '../table.ts'
import { plain } from '../text.ts'
import { validityOf } from './login.ts'

const run = promisify(execFile)

const END_MS = 15_000

export interface MountOptions {
  with?: Mounter
  readOnly?: boolean
  foreground?: boolean
}

const factOf = ({ directory, path, service, with: mounter, readOnly }: Mounted) => ({
  directory,
  path,
  service,
  with: mounter,
  readOnly,
})

/** Mounts a folder of a drive. In the foreground, it keeps running until a signal or an unmount. */
export async function mount(
  context: Context,
  path: string,
  directory: string,
  options: MountOptions,
): Promise<Answer> {
  const { readOnly = false, foreground = false } = options
  const { mounter, program } = await chooseMounter(options.with)
  await tidy(context)
  const service = await open(context)
  const remote = await findPlace(service, path)
  const workspace = remote.place.key || undefined
  const local = resolve(directory)
  const shown = remote.place.show(remote.path)
  const mounted: Mounted = {
    id: mountId(service.url, shown, local),
    directory: local,
    path: shown,
    service: service.url,
    with: mounter,
    readOnly,
    pid: null,
    madeKey: null,
    madeDirectory: false,
  }
  const serving = await aloneAt(local, async () => {
    // Refuses before it records anything, because an existing mount there must stay on record.
    mounted.madeDirectory = await prepareDirectory(local)
    try {
      const target = await targetOf(service, {
        workspace,
        named: remote.workspace ?? '',
        path: remote.path,
        readOnly,
      }).catch(error => {
        throw isFailure(error, 'FILE_NOT_FOUND') ? notFound(shown) : error
      })
      // A new key is recorded before anything can interrupt this command.
      mounted.madeKey = target.madeKey
      await keep(mounted)
      const folder = await folderOf(mounted.id)
      const authorities = await writeAuthorities(mounter, target.url, folder)
      const plan = { program, target, directory: local, folder, readOnly, authorities }
      const client = workspace === undefined ? service.personal : service.workspace(workspace)
      const serving =
        mounter === 'rclone'
          ? await mountByRclone(plan)
          : await mountByDavfs2(plan, (await validityOf(client)).user_info?.email ?? '')
      mounted.pid = serving.pid
      await keep(mounted)
      return serving
    } catch (error) {
      await clear(context, mounted)
      throw error
    }
  })
  if (foreground) return serve(context, mounted, serving)
  return {
    fact: factOf(mounted),
    words: plain(
      `Mounted ${shown} at ${local}, with ${mounter}. To end it: satchel unmount ${local}`,
    ),
  }
}

async function serve(context: Context, mounted: Mounted, { ended }: Serving): Promise<Answer> {
  const { signal } = context.patience
  context.notice(
    `Mounted ${mounted.path} at ${mounted.directory}, with ${mounted.with}. Ctrl-C ends it.`,
  )
  const stopped = new Promise<void>(stop => {
    if (signal.aborted) stop()
    signal.addEventListener('abort', () => stop())
  })
  // The mount runs in a process of its own, so this timer keeps the command alive.
  const alive = setInterval(() => {}, 60_000)
  await Promise.race([ended, stopped])
  clearInterval(alive)
  const words = await end(context, mounted, { force: false })
  if (!signal.aborted) return { fact: factOf(mounted), words }
  context.notice(words)
  throw signal.reason
}

/** Lists the mounts. */
export async function list(context: Context): Promise<Answer> {
  await tidy(context)
  const mounts = await readMounts()
  const rows = mounts.map(one => [
    one.path,
    one.directory,
    one.with,
    one.readOnly ? 'read-only' : '',
    one.service,
  ])
  return {
    fact: { mounts: mounts.map(factOf) },
    words: rows.length > 0 ? table(['FOLDER', 'MOUNTED AT', 'BY', '', 'SERVICE'], rows) : '',
  }
}

export async function unmount(
  context: Context,
  directory: string,
  options: { force?: boolean },
): Promise<Answer> {
  const local = await realpath(directory).catch(() => resolve(directory))
  const mounted = (await readMounts()).find(
    one => one.directory === local || one.directory === resolve(directory),
  )
  if (!mounted)
    throw new Failure(
      'NOT_FOUND',
      `satchel has mounted nothing at ${local}. satchel mount lists what it has mounted.`,
    )
  const words = await end(context, mounted, { force: options.force ?? false })
  return { fact: factOf(mounted), words }
}

/**
 * Waits for uploads, unmounts, and cleans up after the mount.
 *
 * @returns the text to print
 * @throws MOUNT_BUSY
 */
async function end(
  context: Context,
  mounted: Mounted,
  { force }: { force: boolean },
): Promise<string> {
  if (!force && mounted.with === 'rclone' && (await isMounted(mounted.directory)))
    await uploaded(context, mounted)
  // Another command may be unmounting, too.
  return aloneAt(mounted.directory, () => finish(context, mounted, force), 2 * END_MS)
}

async function finish(context: Context, mounted: Mounted, force: boolean): Promise<string> {
  const { directory, pid } = mounted
  const words = `Unmounted ${directory}.`
  if (!(await isKept(mounted))) return words
  if (await isMounted(directory)) {
    await detach(mounted, force)
    if (!(await untilMounted(directory, false, { timeoutMs: END_MS })))
      throw new Failure('MOUNT_BUSY', `${directory} is still mounted. Try again with --force.`)
  }
  for (const until = Date.now() + END_MS; (await isServing(mounted)) && Date.now() < until; )
    await sleep(100)
  // After --force, uploads may still be pending. The cache keeps them.
  if (pid !== null && (await isServing(mounted))) process.kill(pid)
  const pending = await clear(context, mounted)
  return pending === 0 ? words : `${words} ${left(pending, mounted)}`
}

const left = (pending: number, { path, directory }: Mounted): string =>
  `${plural(pending, 'file is', 'files are')} not uploaded yet: mount ${path} at ${directory} again to upload what is missing.`

/** Waits until everything written is uploaded. A process that has exited uploads nothing. */
async function uploaded({ notice, patience }: Context, mounted: Mounted): Promise<void> {
  const folder = await folderOf(mounted.id)
  let said = 0
  for (;;) {
    const pending = await countPending(folder)
    if (pending === 0 || !(await isServing(mounted)) || patience.signal.aborted) return
    if (pending !== said) notice(`Waiting for ${plural(pending, 'file')} to be uploaded.`)
    said = pending
    await sleep(300)
  }
}

/** @throws MOUNT_BUSY, MOUNT_FAILED */
async function detach(mounted: Mounted, force: boolean): Promise<void> {
  const { directory, pid } = mounted
  // On Windows, the mount ends with its process.
  if (process.platform === 'win32')
    return void (pid !== null && (await isServing(mounted)) && process.kill(pid))
  const fusermount = (await findProgram('fusermount3')) ?? (await findProgram('fusermount'))
  const isOwn = process.platform === 'linux' && fusermount && process.getuid?.() !== 0
  const [program, args] = isOwn
    ? [fusermount, ['-u', ...(force ? ['-z'] : [])]]
    : ['umount', force ? [process.platform === 'linux' ? '-l' : '-f'] : []]
  await run(program, [...args, directory]).catch((error: { stderr?: string; message: string }) => {
    const why = (error.stderr || error.message).trim().split('\n').at(-1) ?? ''
    if (/busy/i.test(why))
      throw new Failure(
        'MOUNT_BUSY',
        `Programs use files in ${directory}. Close them, or add --force.`,
      )
    throw new Failure('MOUNT_FAILED', `${directory} cannot be unmounted: ${why}`)
  })
}

/**
 * Cleans up after a mount that has ended.
 *
 * @returns the number of files that were not uploaded
 */
async function clear(context: Context, mounted: Mounted): Promise<number> {
  const pending = await countPending(await folderOf(mounted.id))
  if (mounted.madeKey) await endKey(context, mounted.service, mounted.madeKey)
  await forget(mounted, pending > 0)
  if (mounted.madeDirectory) await rmdir(mounted.directory).catch(() => {})
  return pending
}

/**
 * Revokes the key. It uses its own signal, because the signal of the command may have ended the
 * mount.
 */
async function endKey({ patience, notice }: Context, url: string, key: string): Promise<void> {
  const briefly = { ...patience, signal: AbortSignal.timeout(END_MS), retries: 0 }
  try {
    await deleteKey(await open({ patience: briefly, service: url }), key)
  } catch {
    notice(
      `The API key of this mount could not be deleted at ${url}. Delete it there, under API keys.`,
    )
  }
}

/** Cleans up after mounts that ended in any other way, except mounts that are still starting. */
async function tidy(context: Context): Promise<void> {
  for (const { id, directory } of await readMounts())
    await aloneAt(directory, async () => {
      const mounted = (await readMounts()).find(one => one.id === id)
      if (!mounted || (await isServing(mounted)) || (await isMounted(directory))) return
      const pending = await clear(context, mounted)
      if (pending > 0)
        context.notice(`The mount at ${directory} has ended on its own. ${left(pending, mounted)}`)
    }).catch(error => {
      if (isFailure(error, 'MOUNT_BUSY')) return
      context.patience.signal.throwIfAborted()
      // It stays on record, and does not block other mounts.
      context.notice(
        `The mount at ${directory} has ended, but cannot be cleaned up: ${toFailure(error).message}`,
      )
    })
}
