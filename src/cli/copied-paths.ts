import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from './client.ts'
import { Failure } from './failure.ts'
import { type CopyRowFragment, CopyStateDocument } from './generated.ts'
import { inDrive } from './place.ts'
import { startLine } from './progress.ts'
import type { Context } from './run.ts'

/** The payload of a copy mutation. */
interface Answered {
  entries: { path: string }[] | null
  copy: CopyRowFragment | null
}

/** Polling interval for a copy that runs in the background. */
const LOOK_MS = 500

/**
 * The paths of the copies, once they exist.
 *
 * @throws the failure of the copy
 */
export async function copiedPaths(
  context: Context,
  client: Client,
  { entries, copy }: Answered,
): Promise<string[]> {
  if (!copy) return (entries ?? []).map(({ path }) => inDrive(path))
  context.resumeHint = 'The service continues the copy.'
  const { signal } = context.patience
  let now: CopyRowFragment = copy
  const stop = await startLine(
    context,
    () =>
      `copied ${now.copiedCount.toLocaleString('en')} of ${now.entryCount.toLocaleString('en')} files and folders`,
  )
  try {
    while (now.state === 'COPYING') {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
      const { node } = await client.request(CopyStateDocument, { id: copy.id })
      if (!node || !('copiedCount' in node))
        throw new Failure('COPY_NOT_FOUND', 'The service no longer has this copy.')
      const { id, state, entryCount, copiedCount, failure, entries: made } = node
      now = { id, state, entryCount, copiedCount, failure, entries: made }
    }
  } finally {
    stop()
  }
  if (now.failure) throw new Failure(now.failure.code, now.failure.message)
  if (now.state === 'CANCELLED')
    throw new Failure('COPY_NOT_FOUND', 'The copy was cancelled, and nothing was copied.')
  return (now.entries ?? []).map(({ path }) => inDrive(path))
}
