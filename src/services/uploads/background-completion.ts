import { validate as isUuid } from 'uuid'
import type { CompletionState } from '../../../db/models/upload-session.ts'
import {
  type CompletionRow,
  claimedCompletions,
  type DueCompletion,
  dueCompletions,
  findCompletion,
  postpone,
  releaseClaim,
  setChecked,
  setFailed,
} from '../../../db/queries/upload-session.ts'
import type { Caller } from '../../access/caller.ts'
import { may } from '../../access/roles.ts'
import type { Config } from '../../config/config.ts'
import { AppError, Busy, Forbidden, toAppError, Unauthenticated } from '../../runtime/errors.ts'
import { createFairQueue } from '../../runtime/fair-queue.ts'
import { within } from '../../runtime/within.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { MaintenanceService } from '../maintenance.ts'
import { sharedDrivesOf, workspaceTreesOf } from '../tree/drive.ts'
import type {
  Background,
  Completion,
  CompletionPlan,
  CompletionWork,
  UploadCompletionService,
} from './upload-completion.ts'
import { uploadNotFound } from './upload-error.ts'
import type { UploadSessionService } from './upload-session.ts'

/** A completion that can outlive its request. */
export interface CompletionView {
  id: string
  state: CompletionState
  size: number
  /** The number of bytes read back so far, if reading back is necessary. */
  checked: number
  /** The id of the file, once it exists. */
  fileId: string | null
  /** The MD5 of the stored content. The file may have been replaced since. */
  md5: string | null
  failure: CompletionFailure | null
}

/** The error of a failed completion. */
export type CompletionFailure = Pick<AppError, 'code' | 'message' | 'details'>

/** The state of a completion in the row of the upload. */
interface Pending extends Pick<Caller, 'via' | 'credentialId'> {
  plan: CompletionPlan
  /** The time of the request. */
  since: number
  /** The key of the instance that works on it. */
  instance: string
}

/**
 * The number of completions that read their bytes back at the same time on one instance, and the
 * number that wait.
 */
const READING_AT_ONCE = 4
const LONGEST_QUEUE = 1000
/** The number of abandoned completions that an instance takes over at the same time. */
const TAKEN_OVER_AT_ONCE = 20
/**
 * The interval between two progress records, and between two checks of a completion on another
 * instance.
 */
const NOTE_MS = 1000
const RETRY_MS = 30_000
/** Proxies may cut requests that wait longer. */
const MAX_WAIT_SECONDS = 10
const WAIT_SECONDS = 2

/** The time that a request waits for the completion, in milliseconds. */
const waitMs = (seconds: number | null | undefined): number =>
  Math.min(Math.max(seconds ?? WAIT_SECONDS, 0), MAX_WAIT_SECONDS) * 1000

/**
 * Completions that outlive their requests. The row of the upload records the work, the instance
 * that does it, and the result. When an instance stops or dies, another one starts the completion
 * again, or the same one does after its restart.
 */
export function backgroundCompletionService({
  db,
  uploadCompletions: completions,
  uploadSessions: sessions,
  findCaller,
  maintenance,
  log,
  sweepSeconds,
  instanceKey,
}: Core<'db' | 'log'> &
  Pick<Config, 'sweepSeconds'> & {
    /** Identifies this instance across its restarts. */
    instanceKey: string
    /**
     * Finds the caller by the credential of an earlier request. Null if that credential is no
     * longer valid.
     */
    findCaller: (credential: Pick<Caller, 'via' | 'credentialId'>) => Promise<Caller | null>
    uploadSessions: UploadSessionService
    maintenance: MaintenanceService
    uploadCompletions: UploadCompletionService
  }) {
  const running = new Map<string, Promise<void>>()
  /** Users take turns. */
  const readings = createFairQueue({
    atOnce: READING_AT_ONCE,
    longest: LONGEST_QUEUE,
    full: () => new Busy('Too many uploads are being completed at the moment.'),
  })
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let taking: Promise<void> | undefined

  async function findIfAny(
    bucketId: string,
    id: string,
    maker: string,
  ): Promise<CompletionView | null> {
    const row = isUuid(id) ? await findCompletion(db, { id, bucketId, maker }) : undefined
    return row ? toView(row) : null
  }

  /**
   * Returns the completion when it has ended, or after this many seconds.
   * @throws UPLOAD_NOT_FOUND
   */
  async function wait(
    tree: Tree,
    id: string,
    by: string,
    seconds?: number | null,
  ): Promise<CompletionView> {
    const until = Date.now() + waitMs(seconds)
    for (;;) {
      const left = until - Date.now()
      const ended = running.get(id)
      if (ended && left > 0) await within(ended, left)
      const found = await findIfAny(tree.bucketId, id, by)
      if (!found) throw uploadNotFound()
      const pause = Math.min(NOTE_MS, until - Date.now())
      if (found.state !== 'completing' || pause <= 0 || stopping.signal.aborted) return found
      if (!running.has(id)) await new Promise(resolve => setTimeout(resolve, pause))
    }
  }

  function start({ since, ...work }: CompletionWork & { since: number }): void {
    const { token } = work
    const { id } = work.session
    let checked = 0
    let noted = Date.now()
    const passed = (count: number) => {
      checked += count
      if (Date.now() - noted < NOTE_MS) return
      noted = Date.now()
      setChecked(db, id, token, checked).catch(error =>
        log.warn({ err: error, upload: id }, 'could not store the progress of a completion'),
      )
    }
    const background: Background = {
      signal: stopping.signal,
      reading: read => readings.run([work.session.maker], read),
      passed,
    }
    const ended = completions
      .carryOut({ ...work, background })
      .then(
        () => {},
        error => fail(id, token, since, error),
      )
      .catch(error =>
        log.warn(
          { err: error, upload: id },
          'could not store the result of a completion; it will run again',
        ),
      )
      .finally(() => {
        // Unless it has been started again meanwhile.
        if (running.get(id) === ended) running.delete(id)
      })
    running.set(id, ended)
  }

  async function fail(id: string, token: string, since: number, thrown: unknown): Promise<void> {
    const { error, unexpected } = toAppError(thrown)
    const isPassing =
      (error.code === 'UNAVAILABLE' || error.code === 'NO_SPACE') && Date.now() - since < DAY_MS
    if (stopping.signal.aborted || isPassing) {
      if (!stopping.signal.aborted)
        log.warn(
          { err: error.originalError ?? error, upload: id },
          'a completion failed; it will be tried again',
        )
      return postpone(db, id, token, stopping.signal.aborted ? 0 : Date.now() + RETRY_MS)
    }
    if (unexpected) log.error({ err: error.originalError ?? error, upload: id }, error.message)
    await setFailed(db, id, token, JSON.stringify(failureOf(error)))
  }

  /** The destination tree of an upload. Undefined if its creator may no longer write there. */
  async function writableTree(
    caller: Caller,
    bucketId: string,
    shareId: string | null,
  ): Promise<Tree | undefined> {
    if (shareId !== null) {
      const [shared] = await sharedDrivesOf(db, caller, [shareId])
      return shared?.mayEdit ? shared.tree : undefined
    }
    if (caller.bucket.bucketId === bucketId) return caller.bucket
    const [workspace] = await workspaceTreesOf(db, caller, 'b.id', [bucketId])
    return workspace && may(workspace.role, 'write') ? workspace.tree : undefined
  }

  /** Starts a completion again that another instance abandoned. */
  async function takeOver({ id, bucketId, shareId, completion }: DueCompletion) {
    const pending: Pending = { ...JSON.parse(completion), instance: instanceKey }
    const token = await completions.reclaim(id, completion, JSON.stringify(pending))
    if (token === null) return
    try {
      const caller = await findCaller(pending)
      if (!caller) throw new Unauthenticated()
      const tree = await writableTree(caller, bucketId, shareId)
      if (!tree) throw new Forbidden('You no longer have the right to add files here.')
      log.info({ upload: id }, 'restarting an interrupted completion')
      const { plan, since } = pending
      start({
        tree,
        session: await sessions.find(tree, id, caller.userId),
        token,
        caller,
        plan,
        since,
      })
    } catch (error) {
      await fail(id, token, pending.since, error)
    }
  }

  async function takeAll(): Promise<void> {
    const room = TAKEN_OVER_AT_ONCE - running.size
    // During a maintenance, completions that were started here finish, and abandoned ones wait.
    if (room <= 0 || maintenance.current() || stopping.signal.aborted) return
    for (const row of await dueCompletions(db, room)) if (!running.has(row.id)) await takeOver(row)
  }

  /** Takes over completions that other instances abandoned. One check at a time. */
  async function look(): Promise<void> {
    taking ??= takeAll()
      .catch(error => log.warn({ err: error }, 'could not look for abandoned completions'))
      .finally(() => {
        taking = undefined
      })
    await taking
  }

  /**
   * Takes over the completions of the previous run of this instance, whose claims would otherwise
   * last until they expire, and the abandoned ones of other instances.
   */
  async function resumeAll(): Promise<void> {
    for (const { id, claim, completion } of await claimedCompletions(db)) {
      const { instance }: Pending = JSON.parse(completion)
      if (instance === instanceKey) await releaseClaim(db, id, claim)
    }
    const waits = () => maintenance.current() || stopping.signal.aborted
    do {
      await look()
      await Promise.all(running.values())
    } while (!waits() && (await dueCompletions(db, 1)).length > 0)
  }

  /** Whether this credential is still valid and its user may still write there. */
  const mayComplete = async (tree: Tree, id: string, caller: Caller): Promise<boolean> =>
    (await findCaller(caller)) !== null && (await sessions.isWritable(tree, id, caller.userId))

  /**
   * Starts to complete an upload, unless a completion is active or done. Resolves when it has
   * ended, or after a timeout.
   * @throws INVALID_INPUT, INVALID_PATH, PATH_EXISTS; UPLOAD_BUSY while a foreground request
   * completes it; UPLOAD_NOT_FOUND
   */
  async function begin(
    tree: Tree,
    id: string,
    caller: Caller,
    completion: Completion,
    seconds?: number | null,
  ): Promise<CompletionView> {
    const by = caller.userId
    const since = Date.now()
    try {
      const prepared = await completions.prepare(tree, id, by, completion)
      const { via, credentialId } = caller
      const pending: Pending = {
        plan: prepared.plan,
        via,
        credentialId,
        since,
        instance: instanceKey,
      }
      start({
        ...prepared,
        tree,
        caller,
        since,
        token: await completions.claim(id, JSON.stringify(pending)),
      })
    } catch (error) {
      if (!(error instanceof AppError && ['UPLOAD_BUSY', 'UPLOAD_NOT_FOUND'].includes(error.code)))
        throw error
      const found = await findIfAny(tree.bucketId, id, by)
      if (!found || found.state === 'failed') throw error
      const joined = await wait(tree, id, by, seconds)
      // The credential that started it is no longer valid. This caller's credential may be.
      if (joined.failure?.code !== 'FORBIDDEN' || !(await mayComplete(tree, id, caller)))
        return joined
      return begin(tree, id, caller, completion, (since + waitMs(seconds) - Date.now()) / 1000)
    }
    return wait(tree, id, by, seconds)
  }

  return {
    findIfAny,
    wait,
    look,
    begin,

    /**
     * Continues the completions of the previous run of this instance. To be called before it serves
     * requests.
     * @returns when they have ended, or after this many milliseconds
     */
    resume: (ms: number): Promise<void> =>
      within(
        resumeAll().catch(error =>
          log.warn({ err: error }, 'could not resume the completions of the previous run'),
        ),
        ms,
      ),

    start(): void {
      timer = setInterval(look, sweepSeconds * 1000)
      timer.unref()
      void look()
    },

    /** For tests: resolves when no completion is active here. */
    async idle(): Promise<void> {
      await look()
      await Promise.all(running.values())
    },

    /**
     * Stops active completions. Another instance starts them again, or this one after its restart.
     * Loops for completions that started meanwhile.
     */
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await taking
      await Promise.all(running.values())
    },
  }
}

/**
 * The error for later requests. These may have another credential, and their ids are not in the
 * log.
 */
function failureOf({ code, message, details }: AppError): CompletionFailure {
  if (code === 'UNAUTHENTICATED')
    return {
      code: 'FORBIDDEN',
      message:
        'The session or key that started the completion has ended. Complete the upload again.',
      details,
    }
  if (code === 'INTERNAL')
    return {
      code,
      message: 'Something went wrong on our side. Tell the operator the id of the upload.',
      details,
    }
  return { code, message, details }
}

const toView = ({ failure, ...row }: CompletionRow): CompletionView => ({
  ...row,
  failure: failure === null ? null : JSON.parse(failure),
})

export type BackgroundCompletionService = ReturnType<typeof backgroundCompletionService>
