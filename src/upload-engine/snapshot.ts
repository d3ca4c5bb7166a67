import type { TransferFailure } from './failure.ts'
import type { Aim } from './job.ts'

/**
 * `checking`: the service is verifying it; `conflict`: the name is taken; `detached`: the file must
 * be chosen again after a restart. `uploaded`, `unchanged` and `skipped` are final.
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

/** A file in the queue. Immutable: a change creates a new object. */
export interface QueuedUpload {
  readonly id: string
  readonly aim: Aim
  readonly size: number
  readonly phase: Phase
  /** Bytes that have arrived or need not be sent. */
  readonly sent: number
  /** Verified fraction, from 0 to 1, if verification takes long. */
  readonly checked: number
  /** Why the upload failed, or why it is being retried. */
  readonly failure: TransferFailure | null
}

export interface Snapshot {
  uploads: readonly QueuedUpload[]
  total: {
    size: number
    sent: number
    /** Bytes per second. */
    rate: number
    /** Undefined if unknown. */
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
