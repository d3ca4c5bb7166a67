import type { TransferFailure } from './failure.ts'
import type { Aim } from './job.ts'

/**
 * `checking`: the service verifies it; `conflict`: something else has its name; `detached`: its
 * file must be chosen again, after a restart. The last three are over.
 */
export type Phase =
  | 'waiting'
  | 'uploading'
  | 'checking'
  | 'paused'
  | 'conflict'
  | 'detached'
  | 'failed'
  | 'uploaded'
  | 'unchanged'
  | 'skipped'

/** A file in the queue. Never changes: a change makes another one. */
export interface QueuedUpload {
  readonly id: string
  readonly aim: Aim
  readonly size: number
  readonly phase: Phase
  /** Bytes that have arrived, or need not be sent. */
  readonly sent: number
  /** How much of one that is being verified has been, from 0 to 1, where that takes long. */
  readonly checked: number
  /** Why it failed; of one that is uploading, why it is trying again. */
  readonly failure: TransferFailure | null
}

export interface Snapshot {
  uploads: readonly QueuedUpload[]
  total: {
    size: number
    sent: number
    /** Bytes a second. */
    rate: number
    /** Undefined while it is unknown. */
    secondsLeft: number | undefined
    phases: Readonly<Record<Phase, number>>
  }
}

const over: readonly Phase[] = ['uploaded', 'unchanged', 'skipped']
export const isOver = ({ phase }: QueuedUpload): boolean => over.includes(phase)
export const isRunning = ({ phase }: QueuedUpload): boolean =>
  phase === 'uploading' || phase === 'checking'

export function summarize(uploads: QueuedUpload[], rate: number): Snapshot {
  const phases = Object.fromEntries(allPhases.map(phase => [phase, 0])) as Record<Phase, number>
  let [size, sent, left] = [0, 0, 0]
  for (const upload of uploads) {
    phases[upload.phase]++
    size += upload.size
    sent += upload.phase === 'skipped' ? upload.size : upload.sent
    if (isRunning(upload) || upload.phase === 'waiting') left += upload.size - upload.sent
  }
  return {
    uploads,
    total: { size, sent, rate, secondsLeft: rate > 0 ? left / rate : undefined, phases },
  }
}

const allPhases: readonly Phase[] = [
  ...(['waiting', 'uploading', 'checking', 'paused', 'conflict', 'detached', 'failed'] as const),
  ...(['uploaded', 'unchanged', 'skipped'] as const),
]
