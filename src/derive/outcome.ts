/**
 * Why nothing could be derived from a file. All but the last three are about the file; these may
 * also be about a busy machine.
 */
export const failureReasons = [
  'unsupported',
  'unreadable',
  'too-large',
  'memory',
  'time',
  'crashed',
] as const
export type FailureReason = (typeof failureReasons)[number]

/** The containers of videos that pictures are taken of, as ffmpeg names them. */
export const videoContainers = ['mov', 'matroska', 'avi', 'ogg'] as const
export type VideoContainer = (typeof videoContainers)[number]

/** What one job may use. */
export interface Bounds {
  /** Milliseconds from its begin in a process. */
  ms: number
  /** Pixels of a picture, or of all pages and frames of it. */
  pixels: number
  /** Bytes of everything that it answers. */
  outputBytes: number
}

/** One job, as a process receives it. */
export interface Task {
  kind: string
  /** The file, which is only read. */
  path: string
  mediaType: string
  bounds: Bounds
  /** What this kind of job needs to know beyond that. */
  input: unknown
}

/** The answer of a kind of job: a value that JSON can hold, and bytes. */
export interface Derived {
  value: unknown
  outputs?: Uint8Array[]
}

/** Does one kind of job in a process of its own. @throws Refusal */
export type Work = (task: Task) => Promise<Derived>

/** Thrown by a kind of job for a file that it cannot handle. */
export class Refusal extends Error {
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string = reason) {
    super(message)
    this.name = 'Refusal'
    this.reason = reason
  }
}

/** What precedes the bytes of an answer. */
export type AnswerHead =
  | { ok: true; value: unknown; outputs: number[] }
  | { ok: false; reason: FailureReason }
  /** The process cannot do jobs of this kind, whatever the file. */
  | { ok: false; unable: string; isLasting: boolean }
