/**
 * Reasons for a failure. The last three may also come from a busy machine, and all others concern
 * the file.
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

/** The video containers that are supported for thumbnails, by their ffmpeg names. */
export const videoContainers = [
  'mov',
  'matroska',
  'avi',
  'ogg',
  'mpegts',
  'mpeg',
  'mpegvideo',
  'asf',
  'flv',
] as const
export type VideoContainer = (typeof videoContainers)[number]

/** The limits of one job. */
export interface Bounds {
  /** Milliseconds from its start in a process. */
  ms: number
  /** The maximum pixels of a picture, including all its pages and frames. */
  pixels: number
  /** The maximum size of its output in bytes. */
  outputBytes: number
}

/** One job, as a process receives it. */
export interface Task {
  kind: string
  /** The path of the file, which is only read. */
  path: string
  mediaType: string
  bounds: Bounds
  /** Further input for this kind of job. */
  input: unknown
}

/** The result of a job: a JSON value and binary data. */
export interface Derived {
  value: unknown
  outputs?: Uint8Array[]
}

/**
 * Runs one kind of job in a separate process.
 * @throws Refusal
 */
export type Work = (task: Task) => Promise<Derived>

/** Thrown by a job for a file that it cannot process. */
export class Refusal extends Error {
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string = reason) {
    super(message)
    this.name = 'Refusal'
    this.reason = reason
  }
}

/** The head of a response, which precedes its binary data. */
export type AnswerHead =
  | { ok: true; value: unknown; outputs: number[] }
  | { ok: false; reason: FailureReason }
  /** The process cannot run jobs of this kind, whatever the file. */
  | { ok: false; unable: string; isLasting: boolean }
