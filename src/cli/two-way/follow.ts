import { linkSignal, sleep } from '../../upload-engine/signal.ts'
import { type Failure, isFailure, toFailure } from '../failure.ts'
import type { Answer } from '../run.ts'
import { lineOf } from '../sync/report.ts'
import { jsonLine } from '../text.ts'
import type { Both } from './look.ts'
import { unsaid } from './report.ts'
import { type Outcome, synchronizeBoth } from './synchronize.ts'
import { watchLocal } from './watch-local.ts'
import { watchRemote } from './watch-remote.ts'

/** Delay after an event, because a program that saves a file emits several. */
const SETTLE_MS = 300
/** Interval for reading the remote side, even without events. */
const ASK_MS = 60_000
/** Interval for a full scan, even without file system events. */
const FULL_MS = 300_000
/** Interval for a full scan if the system reports no events. */
const BLIND_MS = 30_000
/** Delay before a failed sync is retried. */
const AGAIN_MS = 3_000

const passing = ['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED', 'MAINTENANCE', 'BAD_ANSWER']
const changing = ['FILE_CHANGED', 'REVISION_MISMATCH', 'PATH_EXISTS', 'TARGET_EXISTS']

/**
 * Keeps both sides in sync until interrupted. It waits for a lost network.
 *
 * @throws failures that waiting cannot fix
 */
export async function follow(both: Both): Promise<Answer | undefined> {
  const { context } = both
  const { signal } = context.patience
  const own = linkSignal(signal)
  let wake = () => {}
  let isAwake = false
  const happen = () => {
    isAwake = true
    wake()
  }
  let fullMs = FULL_MS
  const local = watchLocal(both.pair.local, happen, error => {
    fullMs = BLIND_MS
    context.notice(
      `The system does not watch all folders (${error.message}), so they are scanned every 30 seconds.`,
    )
  })
  both.onFolder = local.onFolder
  const remote = watchRemote(both.pair.place, happen, own.signal).catch(() => {})
  const said = new Set<string>()
  let lastFull = Number.NEGATIVE_INFINITY
  let isSaid = false
  try {
    for (;;) {
      isAwake = false
      const changed = performance.now() - lastFull > fullMs ? null : local.take()
      if (changed === null) {
        both.local = null
        await both.own.tidy()
      }
      const failures = await once(both, changed)
      if (both.local === null) lastFull = Number.NEGATIVE_INFINITY
      else if (changed === null) lastFull = performance.now()
      const { local: tree } = both
      if (tree && !isSaid) {
        isSaid = true
        const { place, path, local: folder } = both.pair
        context.notice(`Watching ${folder} and ${place.show(path)}. Ctrl-C ends it.`)
      }
      if (tree) local.prune(at => tree.entries.get(at)?.kind === 'folder' || tree.passed.has(at))
      for (const { code, message, details } of unsaid(failures, said))
        if (context.json) process.stdout.write(jsonLine({ failed: { ...details, code, message } }))
        else context.notice(`${message} (${code})`)
      const again = failures.some(failure => isFailure(failure, ...passing, ...changing))
      const pause = Math.min(again ? AGAIN_MS : ASK_MS, fullMs)
      if (!isAwake) {
        const nap = linkSignal(signal)
        wake = () => nap.end(new Error('woken'))
        await sleep(pause, nap.signal).catch(() => {})
        nap.release()
        signal.throwIfAborted()
      }
      await sleep(SETTLE_MS, signal)
    }
  } catch (error) {
    // Once it is watching, an interruption is the normal end.
    if (!isSaid || !isFailure(signal.reason, 'INTERRUPTED')) throw error
    context.notice('Stopped. Run the same command to continue with the changes made meanwhile.')
    return undefined
  } finally {
    own.end(new Error('over'))
    own.release()
    local.close()
    await remote
  }
}

/** Syncs once and prints the changes. Resolves to the failures. */
async function once(both: Both, changed: ReadonlySet<string> | null): Promise<Failure[]> {
  try {
    const { failures }: Outcome = await synchronizeBoth(both, changed, change =>
      process.stdout.write(both.context.json ? jsonLine(change) : `${lineOf(change)}\n`),
    )
    return failures
  } catch (error) {
    both.context.patience.signal.throwIfAborted()
    // The scanned state is no longer reliable.
    both.local = null
    if (isFailure(error, ...passing)) return [toFailure(error)]
    throw error
  }
}
