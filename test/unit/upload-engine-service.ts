import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import pLimit from 'p-limit'
import { digestsOf } from '../../src/upload-engine/digests.ts'
import { TransferFailure } from '../../src/upload-engine/failure.ts'
import type {
  Aim,
  Attempt,
  Checking,
  Expected,
  Fingerprint,
  Job,
  Receipt,
  Source,
  StoredSession,
  Transport,
} from '../../src/upload-engine/job.ts'

export const md5 = (bytes: Uint8Array, encoding: 'hex' | 'base64' = 'hex') =>
  createHash('md5').update(bytes).digest(encoding)

export const lost = () =>
  new TransferFailure('UNREACHABLE', 'The connection broke.', { sent: true })
export const refusal = (code: string, details?: Record<string, unknown>) =>
  new TransferFailure(code, `Refused: ${code}.`, details)

type Call =
  | 'start'
  | 'received'
  | 'part'
  | 'complete'
  | 'outcome'
  | 'abort'
  | 'whole'
  | 'find'
  | 'remove'

/** The fault of a call: before the service acts, or after it. */
export interface Fault {
  before?: TransferFailure | undefined
  after?: TransferFailure | undefined
  /** The call neither arrives nor ends. */
  hangs?: boolean
  /** The service receives different bytes. */
  corrupt?: boolean
  /** The parts are assembled in another order. */
  mixes?: boolean
}

export const crc32Of = (bytes: Uint8Array) => crc32(bytes).toString(16).padStart(8, '0')

/** A service in memory behind an unreliable network. */
export class BadService implements Transport<Uint8Array> {
  readonly host = 'files.example.com'
  readonly files = new Map<string, Buffer>()
  readonly sessions = new Map<string, { size: number; parts: Map<number, Uint8Array> }>()
  readonly calls: string[] = []
  /** The number of parts being sent at this moment, and its maximum. */
  readonly load = { now: 0, most: 0 }
  fault: (call: Call, count: number) => Fault | undefined = () => undefined
  readonly #chunkSize: number
  readonly #counts = new Map<Call, number>()

  constructor(chunkSize: number) {
    this.#chunkSize = chunkSize
  }

  async #call<T>(call: Call, act: (fault: Fault) => T, attempt?: Attempt): Promise<T> {
    const count = (this.#counts.get(call) ?? 0) + 1
    this.#counts.set(call, count)
    this.calls.push(call)
    const fault = this.fault(call, count) ?? {}
    await new Promise(resolve => setImmediate(resolve))
    if (fault.hangs && attempt) await new Promise((_, reject) => follow(attempt.signal, reject))
    attempt?.signal.throwIfAborted()
    if (fault.before) throw fault.before
    const answer = act(fault)
    if (fault.after) throw fault.after
    return answer
  }

  #session(id: string) {
    const session = this.sessions.get(id)
    if (!session) throw refusal('UPLOAD_NOT_FOUND')
    return session
  }

  #refuseTaken(path: string): void {
    if (this.files.has(path)) throw refusal('PATH_EXISTS')
  }

  async start(aim: Aim, { size }: Fingerprint) {
    return this.#call('start', () => {
      this.#refuseTaken(pathOf(aim))
      const uploadId = `upload-${this.calls.length}`
      this.sessions.set(uploadId, { size, parts: new Map() })
      const partCount = Math.max(1, Math.ceil(size / this.#chunkSize))
      return {
        uploadId,
        chunkSize: this.#chunkSize,
        partCount,
        expiresAt: '2030-01-01T00:00:00.000Z',
      }
    })
  }

  async received({ uploadId }: { uploadId: string }) {
    return this.#call('received', () => [...this.#session(uploadId).parts.keys()])
  }

  async sendPart(
    ...[{ uploadId }, { number, size, body }, attempt]: Parameters<
      Transport<Uint8Array>['sendPart']
    >
  ): Promise<string | undefined> {
    this.load.most = Math.max(this.load.most, ++this.load.now)
    try {
      // Half of the bytes were sent before the failure.
      attempt.sent(Math.floor(size / 2))
      const sum = await this.#call(
        'part',
        ({ corrupt }) => {
          const arrived = corrupt ? body.map(byte => byte ^ 1) : body.slice()
          this.#session(uploadId).parts.set(number, arrived)
          return this.saysSums ? crc32Of(arrived) : undefined
        },
        attempt,
      )
      attempt.sent(size - Math.floor(size / 2))
      return sum
    } finally {
      this.load.now--
    }
  }

  /** Whether the service returns a CRC-32 for each part. Older services do not. */
  saysSums = true
  /** The digests that each completion had to compare. */
  readonly given: Expected[] = []

  /** The progress that a completion reports at each poll before it finishes. */
  slow: number[] = []
  #finish = (): Receipt => {
    throw refusal('UPLOAD_NOT_FOUND')
  }

  async complete({ uploadId }: { uploadId: string }, aim: Aim, sum: Expected) {
    this.given.push(sum)
    return this.#call('complete', fault => {
      this.#finish = () => this.#completed(uploadId, aim, sum, fault)
      return this.#progress()
    })
  }

  async outcome(): Promise<Receipt | Checking> {
    return this.#call('outcome', () => this.#progress())
  }

  #progress(): Receipt | Checking {
    const checked = this.slow.shift()
    return checked === undefined ? this.#finish() : { checked }
  }

  #completed(uploadId: string, aim: Aim, sum: Expected, { corrupt, mixes }: Fault): Receipt {
    const { size, parts } = this.#session(uploadId)
    const count = Math.max(1, Math.ceil(size / this.#chunkSize))
    const missing = Array.from({ length: count }, (_, i) => i + 1).filter(
      number => !parts.has(number),
    )
    if (missing.length > 0) throw refusal('UPLOAD_INCOMPLETE', { missing })
    this.#refuseTaken(pathOf(aim))
    const order = mixes ? -1 : 1
    const bytes = Buffer.concat(
      [...parts].sort(([a], [b]) => order * (a - b)).map(([, part]) => part),
    )
    if ('md5' in sum ? md5(bytes) !== sum.md5 : crc32Of(bytes) !== sum.crc32)
      throw refusal('CHECKSUM_MISMATCH')
    this.files.set(pathOf(aim), bytes)
    this.sessions.delete(uploadId)
    return { md5: corrupt ? md5(Buffer.from('other')) : md5(bytes), fileName: aim.fileName }
  }

  async abort({ uploadId }: { uploadId: string }) {
    await this.#call('abort', () => this.sessions.delete(uploadId))
  }

  async sendWhole(aim: Aim, { body, size }: { body: Uint8Array; size: number }, attempt: Attempt) {
    attempt.sent(Math.floor(size / 2))
    const receipt = await this.#call(
      'whole',
      ({ corrupt }) => {
        this.#refuseTaken(pathOf(aim))
        this.files.set(pathOf(aim), Buffer.from(corrupt ? body.map(byte => byte ^ 1) : body))
        return { md5: md5(this.files.get(pathOf(aim)) ?? body), fileName: aim.fileName }
      },
      attempt,
    )
    attempt.sent(size - Math.floor(size / 2))
    return receipt
  }

  async find(aim: Aim) {
    return this.#call('find', () => {
      const bytes = this.files.get(pathOf(aim))
      return bytes ? [{ size: bytes.length, md5: md5(bytes), fileName: aim.fileName }] : []
    })
  }

  async remove(aim: Aim) {
    await this.#call('remove', () => this.files.delete(pathOf(aim)))
  }
}

const follow = (signal: AbortSignal, reject: (reason: unknown) => void) => {
  if (signal.aborted) reject(signal.reason)
  signal.addEventListener('abort', () => reject(signal.reason))
}

export const pathOf = ({ folder, fileName }: Aim) => (folder ? `${folder}/${fileName}` : fileName)

/** A file of bytes in memory that a test may change. */
export function fileOf(
  bytes: Uint8Array,
  mtimeMs = 1,
): { source: Source<Uint8Array>; digested(): number; change(): void } {
  let digested = 0
  let isChanged = false
  const source: Source<Uint8Array> = {
    fingerprint: { size: bytes.length, mtimeMs },
    read(offset, length) {
      const body = bytes.subarray(offset, offset + length)
      return { body, crc32: async () => crc32Of(body) }
    },
    digest() {
      const whole = createHash('md5')
      let at = 0
      return {
        async next(length) {
          whole.update(bytes.subarray(at, at + length))
          at += length
          digested += length
        },
        end: async () => whole.digest('hex'),
        close() {},
      }
    },
    async verify() {
      if (isChanged) throw refusal('FILE_CHANGED')
    },
  }
  return {
    source,
    digested: () => digested,
    change: () => {
      isChanged = true
    },
  }
}

/** An upload of bytes to a service, with everything that a test may inspect. */
export function jobFor(
  service: BadService,
  source: Source<Uint8Array>,
  given: Partial<Job<Uint8Array>> = {},
) {
  const seen = {
    moved: 0,
    skipped: 0,
    checks: 0,
    shares: [] as number[],
    retries: [] as string[],
    session: null as StoredSession | null,
  }
  const interrupt = new AbortController()
  const job: Job<Uint8Array> = {
    source,
    digests: digestsOf(source),
    aim: { folder: 'docs', fileName: 'a.bin' },
    transport: service,
    sessions: {
      read: async () => seen.session,
      async write(session) {
        seen.session = session
      },
      async remove() {
        seen.session = null
      },
    },
    progress: {
      move: count => {
        seen.moved += count
      },
      skip: count => {
        seen.skipped += count
      },
      checking: work => {
        seen.checks++
        return work
      },
      checked: share => void seen.shares.push(share),
    },
    limit: pLimit(3),
    patience: {
      signal: interrupt.signal,
      retries: 3,
      onRetry: ({ code }) => void seen.retries.push(code),
    },
    ...given,
  }
  return { job, seen, interrupt }
}
