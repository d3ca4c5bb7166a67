import { validate as isUuid, v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import { FOLDER } from '../../../db/models/entry.ts'
import type { RequestState } from '../../../db/models/file-request.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import {
  closeRequest,
  insertRequest,
  listRequests,
  type RequestFilter,
  type RequestRow,
  requestsAmong,
  takeArrivals,
} from '../../../db/queries/file-request.ts'
import {
  pagesOfReceipts,
  type SenderRow,
  sendersOf,
  sendersOfEntries,
} from '../../../db/queries/file-request-upload.ts'
import type { Page } from '../../../db/queries/page.ts'
import type { Caller } from '../../access/caller.ts'
import { type Passwords, parsePassword } from '../../access/password.ts'
import { AppError } from '../../runtime/errors.ts'
import { MAX_SENDERS } from '../../values/limits.ts'
import type { Tree } from '../../values/tree.ts'
import { takeLink } from '../bound.ts'
import type { Core } from '../core.ts'
import { enqueue } from '../job.ts'
import { mailJob } from '../notices/mail.ts'
import { type PageArgs, pageById } from '../page.ts'
import { rowsById } from '../rows-by-id.ts'
import { lockTree } from '../tree/entry.ts'
import {
  type EntryName,
  findEntry,
  namesOfFolder,
  pathIn,
  pathsOfFolders,
} from '../tree/entry-path.ts'
import {
  askingNames,
  DEFAULT_DURATION,
  expectedOf,
  kindsOf,
  parseTerms,
  type RequestInput,
  senderKey,
} from './file-request-term.ts'
import { callerKeys } from './share.ts'
import { type RuledTerms, rulesOfChange, type SharingRuleService } from './sharing-rule.ts'

export const FILE_REQUEST_TOKEN = 'file-request'

type Unshown =
  | 'passwordHash'
  | 'rootId'
  | 'mayWrite'
  | 'kinds'
  | 'expected'
  | 'notifiedAt'
  | 'mailWaits'
  | 'makerName'

/** A file request as its creator sees it. Sizes are in bytes, times in milliseconds since 1970. */
export interface FileRequestView extends Omit<RequestRow, Unshown> {
  token: string
  link: string
  kinds: string[]
  /** The names of the expected senders. */
  expected: string[]
  passwordProtected: boolean
  state: RequestState
  /** The path of its folder, as responses show it. Null while the folder is in the trash. */
  folder: string | null
}

/** A sender by the name that they gave, which is not verified. */
export interface RequestSender {
  name: string
  isExpected: boolean
  fileCount: number
  /** Null if nothing has arrived. */
  lastAt: number | null
}

/** Combines names that differ only in their spelling. Lists the expected senders first. */
function arranged(expected: readonly string[], rows: readonly SenderRow[]): RequestSender[] {
  const came = new Map<string, RequestSender>()
  for (const { name, fileCount, lastAt } of rows) {
    const before = came.get(senderKey(name))
    came.set(senderKey(name), {
      name: before?.name ?? name,
      isExpected: false,
      fileCount: Number(fileCount) + (before?.fileCount ?? 0),
      lastAt: Math.max(Number(lastAt), before?.lastAt ?? 0),
    })
  }
  const first = expected.map(name => {
    const { fileCount = 0, lastAt = null } = came.get(senderKey(name)) ?? {}
    came.delete(senderKey(name))
    return { name, isExpected: true, fileCount, lastAt }
  })
  return [...first, ...came.values()]
}

interface Deps extends Core<'db' | 'change' | 'tokens' | 'publicUrl'> {
  passwords: Passwords
  rules: SharingRuleService
}

const notFound = () =>
  new AppError('FILE_REQUEST_NOT_FOUND', 'You have no such file request. Use an id from the list.')

type Filled = Pick<RequestRow, 'maxFiles' | 'files' | 'maxBytes' | 'bytes'>

const isFull = ({ maxFiles, files, maxBytes, bytes }: Filled): boolean =>
  (maxFiles !== null && files >= maxFiles) || (maxBytes !== null && bytes >= maxBytes)

const stateOf = (row: RequestRow, folder: string | null): RequestState => {
  if (row.closedAt !== null) return 'closed'
  if (row.expiresAt !== null && row.expiresAt <= Date.now()) return 'expired'
  if (!row.mayWrite || folder === null) return 'suspended'
  return isFull(row) ? 'full' : 'open'
}

const ruledOf = (expiresAt: number | null, hasPassword: boolean): RuledTerms => ({
  kind: 'request',
  recipient: null,
  expiresAt,
  hasPassword,
})

/** File requests for their creators. */
export function fileRequestService({ db, change, tokens, publicUrl, passwords, rules }: Deps) {
  const hashOf = (caller: Caller, password: string) =>
    passwords.hash(parsePassword(password), callerKeys(caller))

  async function toViews(rows: RequestRow[]): Promise<FileRequestView[]> {
    const folders = await pathsOfFolders(
      db,
      rows.map(row => row.rootId),
      rows.map(row => row.folderId),
    )
    return rows.map(row => {
      const {
        passwordHash,
        rootId,
        mayWrite: _may,
        notifiedAt: _at,
        mailWaits: _mail,
        makerName: _name,
        ...shown
      } = row
      const names = folders.get(row.folderId)
      const tree: Tree = {
        bucketId: row.bucketId,
        rootId,
        ...(row.workspaceId === null ? {} : { front: '/' }),
      }
      const folder = names ? pathIn(tree, names) : null
      const token = tokens.derive(FILE_REQUEST_TOKEN, row.id)
      return {
        ...shown,
        token,
        link: `${publicUrl()}/request/${token}`,
        kinds: kindsOf(row.kinds),
        expected: expectedOf(row.expected),
        folder,
        asksName: Boolean(row.asksName),
        notifies: Boolean(row.notifies),
        passwordProtected: passwordHash !== null,
        state: stateOf(row, folder),
      }
    })
  }

  const shown = async ({ rows, ...page }: Page<RequestRow>): Promise<Page<FileRequestView>> => ({
    rows: await toViews(rows),
    ...page,
  })

  const among = async (caller: Caller, ids: string[]): Promise<FileRequestView[]> =>
    toViews([...(await rowsById(ids, some => requestsAmong(db, caller.userId, some))).values()])

  /** A request of the caller in a drive. @throws FILE_REQUEST_NOT_FOUND */
  async function find(caller: Caller, tree: Tree, id: string): Promise<FileRequestView> {
    const [request] = await among(caller, [id])
    if (request?.bucketId !== tree.bucketId) throw notFound()
    return request
  }

  /** @throws INVALID_PATH, FOLDER_NOT_FOUND */
  async function folderOf(
    tree: Tree,
    named: EntryName,
    tx: Tx,
  ): Promise<{ id: string; path: string }> {
    const names = await namesOfFolder(db, tree, named, 'folder', tx)
    const path = pathIn(tree, names)
    if (names.length === 0) return { id: tree.rootId, path }
    const found = await findEntry(db, tree, names, tx)
    if (found?.node.kind === FOLDER) return { id: found.node.id, path }
    throw new AppError('FOLDER_NOT_FOUND', `There is no folder "${path}". Create it first.`, {
      path,
    })
  }

  return {
    among,
    find,

    /** The open requests that the caller made in drives that they can see. */
    async list(caller: Caller, filter: RequestFilter): Promise<Page<FileRequestView>> {
      const { folderId } = filter
      // MySQL fails to compare an ASCII column with a text that is not ASCII.
      if (typeof folderId === 'string' && !isUuid(folderId)) return { rows: [], more: false }
      return shown(await listRequests(db, caller.userId, filter))
    },

    /** All requests that the caller made, including closed ones. */
    madeBy: async (
      caller: Caller,
      limit: number,
      after: string | null,
    ): Promise<Page<FileRequestView>> =>
      shown(await listRequests(db, caller.userId, { limit, after, closed: true })),

    /**
     * The requests for folders of one drive, for REST.
     * @throws INVALID_INPUT
     */
    async page(
      caller: Caller,
      { bucketId }: Tree,
      page: PageArgs,
    ): Promise<{ rows: FileRequestView[]; nextCursor: string | null }> {
      return pageById(page, (limit, after) => this.list(caller, { bucketId, limit, after }))
    },

    /**
     * The number of files and bytes that some requests received, by id. Does not authorize: pass
     * only requests of the caller.
     */
    receipts: (
      ids: string[],
      range: { limit: number; after: string | null; newestFirst: boolean },
    ) => pagesOfReceipts(db, ids, range),

    /**
     * The names that the senders of some requests gave, by request id. Does not authorize: pass
     * only requests of the caller.
     */
    senderRows: async (ids: string[]): Promise<Map<string, SenderRow[]>> =>
      new Map(Array.from(await sendersOf(db, ids), ([id, { rows }]) => [id, rows])),

    /** The senders of a request: the expected ones in their given order, then others by name. */
    sendersOf: ({ expected }: Pick<FileRequestView, 'expected'>, rows: readonly SenderRow[]) =>
      arranged(expected, rows).slice(0, MAX_SENDERS),

    /**
     * The names that the senders of some files gave. Does not authorize: pass only files that the
     * caller may see.
     */
    sendersOfEntries: (ids: readonly string[]) => sendersOfEntries(db, ids),

    /**
     * Creates a link with which anyone can send files to a folder.
     * @throws INVALID_INPUT, INVALID_DURATION, INVALID_PATH, FOLDER_NOT_FOUND, QUOTA_EXCEEDED
     */
    async create(
      caller: Caller,
      tree: Tree,
      folder: EntryName,
      input: RequestInput,
    ): Promise<FileRequestView> {
      const now = Date.now()
      const given = {
        ...input,
        label: input.label ?? '',
        duration: input.duration || rules.defaultDuration(DEFAULT_DURATION),
      }
      const { label = '', expiresAt = null, ...terms } = askingNames(parseTerms(given, now))
      await rules.require(caller, ruledOf(expiresAt, Boolean(input.password)), { now })
      const passwordHash = input.password ? await hashOf(caller, input.password) : null
      const id = newId()
      await change(caller, async ({ tx, record }) => {
        await takeLink(db, caller, tx)
        await lockTree(db, tree, tx)
        const { id: folderId, path } = await folderOf(tree, folder, tx)
        const owned = {
          id,
          userId: caller.userId,
          bucketId: tree.bucketId,
          folderId,
          passwordHash,
          createdAt: now,
        }
        const defaults = {
          message: '',
          kinds: '',
          asksName: false,
          notifies: true,
          expected: null,
          senderPlace: 'none' as const,
        }
        const bounds = { maxFiles: null, maxFileBytes: null, maxBytes: null }
        await insertRequest(
          db,
          { ...defaults, ...bounds, ...terms, ...owned, label, expiresAt },
          tx,
        )
        const details = { entryId: folderId, path, name: label }
        record(tree.bucketId, { kind: 'file_request.created', subject: id, details })
      })
      return find(caller, tree, id)
    },

    /**
     * Changes the terms of an open request. Its link stays the same.
     * @throws FILE_REQUEST_NOT_FOUND, INVALID_INPUT, INVALID_DURATION
     */
    async update(
      caller: Caller,
      tree: Tree,
      id: string,
      input: RequestInput,
    ): Promise<FileRequestView> {
      const { folderId, label, closedAt } = await find(caller, tree, id)
      if (closedAt !== null) throw notFound()
      const now = Date.now()
      const given = parseTerms(input, now)
      const { password } = input
      // Refuses an empty password: it must not remove the protection by accident.
      const passwordHash = typeof password === 'string' ? await hashOf(caller, password) : password
      const secret = passwordHash === undefined ? {} : { passwordHash }
      await change(caller, async ({ tx, record }) => {
        await lockBucket(db, tree.bucketId, tx)
        const where = { id, closedAt: null }
        const before = await db.FileRequest.findOne({ where, raw: true, transaction: tx })
        if (!before) throw notFound()
        const terms = { ...askingNames(given, before), ...secret }
        const after = { ...before, ...terms }
        // A full request that accepts files again is renewed, like a link that was used up.
        const isBack = isFull(before) && !isFull(after)
        const among = rulesOfChange({
          isRenewed: isBack || terms.expiresAt !== undefined,
          removesPassword: password === null,
        })
        const ruled = ruledOf(after.expiresAt, after.passwordHash !== null)
        await rules.require(caller, ruled, { now, among, tx })
        await db.FileRequest.update(terms, { where, transaction: tx })
        const details = { entryId: folderId, name: given.label ?? label }
        record(tree.bucketId, { kind: 'file_request.changed', subject: id, details })
      })
      return find(caller, tree, id)
    },

    /**
     * Sends the creator a mail about the files received since the last mail. Does nothing if there
     * are none.
     */
    tellArrivals: ({ requestId }: { requestId: string }): Promise<void> =>
      db.transaction(async tx => {
        const arrived = await takeArrivals(db, requestId, tx)
        if (!arrived?.address || arrived.count === 0) return
        const { label, count: files, bytes } = arrived
        const values = { label, files, bytes, link: `${publicUrl()}/requests` }
        await enqueue(db, mailJob, { template: 'files-received', to: arrived.address, values }, tx)
      }),

    /**
     * Closes a request permanently. Received files stay.
     * @throws FILE_REQUEST_NOT_FOUND
     */
    async close(caller: Caller, tree: Tree, id: string): Promise<FileRequestView> {
      const { folderId, label } = await find(caller, tree, id)
      await change(caller, async ({ tx, record }) => {
        await lockBucket(db, tree.bucketId, tx)
        if (!(await closeRequest(db, id, Date.now(), tx))) return
        record(tree.bucketId, {
          kind: 'file_request.closed',
          subject: id,
          details: { entryId: folderId, name: label },
        })
      })
      return find(caller, tree, id)
    },
  }
}

export type FileRequestService = ReturnType<typeof fileRequestService>
