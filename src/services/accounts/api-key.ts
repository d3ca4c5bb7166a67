import { validate as isUuid, v7 as newId } from 'uuid'
import type { Tx } from '../../../db/index.ts'
import {
  type ApiKeyPlace,
  type ApiKeyRow,
  apiKeyQuota,
  apiKeysAmong,
  deleteApiKey,
  type Holder,
  pagesOfApiKeys,
} from '../../../db/queries/api-key.ts'
import { mapPages, onlyRows, type Page } from '../../../db/queries/page.ts'
import { lockUser } from '../../../db/queries/user.ts'
import type { Caller } from '../../access/caller.ts'
import { appScopes, type KeyScope, privateScopes, workspaceScopes } from '../../access/scopes.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { hashSecret, newSecret } from '../../runtime/tokens.ts'
import { parseDuration } from '../../values/duration.ts'
import { excerpt } from '../../values/excerpt.ts'
import { figure, MAX_KEY_DESCRIPTION, MAX_KEY_NAME, MAX_PAGE } from '../../values/limits.ts'
import type { Core } from '../core.ts'
import { rowsById } from '../rows-by-id.ts'
import { parseTitle } from '../title.ts'
import { lockToManage } from '../workspaces/right.ts'
import type { WorkspaceView } from '../workspaces/workspace.ts'
import type { ProofService } from './proof.ts'

export interface ApiKeyView extends Omit<ApiKeyRow, 'scopes'> {
  status: 'active' | 'expired'
  scopes: KeyScope[]
}

/** A new key. Its secret is returned only here. */
export interface NewApiKey extends Omit<ApiKeyView, 'status' | 'lastUsedAt' | 'keyHint'> {
  key: string
  /** Null for a workspace key. */
  userId: string | null
}

export interface ApiKeyInput {
  name: string
  scopes: string[]
  description?: string | null | undefined
  expiresIn?: string | null | undefined
}

export function apiKeyService({
  db,
  change,
  proofs,
}: Core<'db' | 'change'> & { proofs: ProofService }) {
  async function create(
    caller: Caller,
    workspaceId: string | null,
    allowed: readonly KeyScope[],
    input: ApiKeyInput,
    first: (tx: Tx) => Promise<void> = async () => {},
    last: (
      tx: Tx,
      made: { id: string; expiresAt: number | null },
    ) => Promise<void> = async () => {},
  ): Promise<NewApiKey> {
    const { name, description, scopes, lifetime } = readInput(input, allowed)
    const key = `satchel_${newSecret()}`
    const [id, createdAt] = [newId(), Date.now()]
    const expiresAt = lifetime === null ? null : createdAt + lifetime
    await change(caller, async ({ tx, record }) => {
      await requireKeyQuota(caller, workspaceId, tx)
      await first(tx)
      const [hash, hint] = [hashSecret(key).toString('hex'), key.slice(-4)]
      const made = { createdBy: caller.userId, createdAt, lastUsedAt: null, expiresAt }
      await db.ApiKey.create(
        { id, hash, hint, name, description, scopes: scopes.join(' '), workspaceId, ...made },
        { transaction: tx },
      )
      await last(tx, { id, expiresAt })
      const log = workspaceId === null ? caller.userId : { workspace: workspaceId }
      record(log, { kind: 'key.created', subject: id, details: { name } })
    })
    const userId = workspaceId === null ? caller.userId : null
    return {
      id,
      name,
      description,
      key,
      scopes,
      userId,
      workspaceId,
      createdBy: caller.userId,
      createdAt,
      expiresAt,
    }
  }

  /**
   * Counts under a lock, so that parallel requests cannot exceed the limit. @throws QUOTA_EXCEEDED
   */
  async function requireKeyQuota(
    caller: Caller,
    workspaceId: string | null,
    tx: Tx,
  ): Promise<void> {
    if (workspaceId === null) await lockUser(db, caller.userId, tx)
    // Without this lock, a key could survive the removal of its creator.
    else await lockToManage(db, caller, workspaceId, tx)
    requireRoom(
      await (workspaceId === null
        ? apiKeyQuota(db, 'user', caller.userId, tx)
        : apiKeyQuota(db, 'workspace', workspaceId, tx)),
    )
  }

  function requireRoom(quota: Awaited<ReturnType<typeof apiKeyQuota>>): void {
    if (quota.used >= quota.max)
      throw new AppError(
        'QUOTA_EXCEEDED',
        `The plan allows ${quota.max} API keys. Delete one first.`,
        { ...quota },
      )
  }

  /** @throws PROOF_NEEDED for a key that may do more than read */
  async function requireProof(caller: Caller, scopes: readonly string[]): Promise<void> {
    if (scopes.some(scope => !scope.trim().endsWith(':read'))) await proofs.require(caller)
  }

  async function pagesOf(holder: Holder, ids: string[], limit: number, after: ApiKeyPlace | null) {
    return mapPages(await pagesOfApiKeys(db, holder, ids, limit, after), toView)
  }

  const list = async (holder: Holder, id: string): Promise<ApiKeyView[]> =>
    onlyRows(await pagesOf(holder, [id], MAX_PAGE, null))

  async function remove(
    caller: Caller,
    holder: Holder,
    holderId: string,
    id: string,
  ): Promise<void> {
    await change(caller, async ({ tx, record }) => {
      const removed = isUuid(id) ? await deleteApiKey(db, holder, holderId, id, tx) : 0
      if (removed === 0) throw keyNotFound()
      record(holder === 'user' ? holderId : { workspace: holderId }, {
        kind: 'key.deleted',
        subject: id,
      })
    })
  }

  return {
    /** @throws INVALID_SCOPE, INVALID_DURATION, INVALID_INPUT, PROOF_NEEDED, QUOTA_EXCEEDED */
    async createPrivate(caller: Caller, input: ApiKeyInput): Promise<NewApiKey> {
      await requireProof(caller, input.scopes)
      return create(caller, null, privateScopes, input)
    },
    /**
     * Creates the key that a person has approved for a program, after `first` has run in the
     * transaction, and before `last`.
     */
    createPrivateAfter: (
      caller: Caller,
      input: ApiKeyInput,
      first: (tx: Tx) => Promise<void>,
      last?: (tx: Tx, made: { id: string; expiresAt: number | null }) => Promise<void>,
    ) => create(caller, null, appScopes, input, first, last),
    /**
     * Checks that the caller may create another private key with these scopes now.
     * @throws PROOF_NEEDED, QUOTA_EXCEEDED
     */
    async requireAllowed(caller: Caller, scopes: readonly string[]): Promise<void> {
      await requireProof(caller, scopes)
      requireRoom(await apiKeyQuota(db, 'user', caller.userId))
    },
    /** The private keys of the caller, newest first. */
    async pageOfPrivate(
      caller: Caller,
      limit: number,
      after: ApiKeyPlace | null,
    ): Promise<Page<ApiKeyView>> {
      return (
        (await pagesOf('user', [caller.userId], limit, after)).get(caller.userId) ?? {
          rows: [],
          more: false,
        }
      )
    },
    /**
     * The keys of some workspaces, newest first. Does not authorize: pass only workspaces that the
     * caller may manage.
     */
    pagesOfWorkspaces: (workspaceIds: string[], limit: number, after: ApiKeyPlace | null) =>
      pagesOf('workspace', workspaceIds, limit, after),
    /**
     * The keys among these that are private keys of the caller or belong to one of their
     * workspaces, by id. Ignores their role.
     */
    knownAmong: ({ userId }: Caller, ids: string[]): Promise<Map<string, ApiKeyView>> =>
      rowsById(ids, async some => (await apiKeysAmong(db, userId, some)).map(toView)),
    listPrivate: (caller: Caller) => list('user', caller.userId),
    /**
     * Deletes a key. Its next request is refused.
     * @throws API_KEY_NOT_FOUND
     */
    removePrivate: (caller: Caller, id: string) => remove(caller, 'user', caller.userId, id),

    /** @throws INVALID_SCOPE, INVALID_DURATION, INVALID_INPUT, PROOF_NEEDED, QUOTA_EXCEEDED */
    async createForWorkspace(
      caller: Caller,
      workspace: WorkspaceView,
      input: ApiKeyInput,
    ): Promise<NewApiKey> {
      await requireProof(caller, input.scopes)
      return create(caller, workspace.id, workspaceScopes, input)
    },
    listOfWorkspace: (workspace: WorkspaceView) => list('workspace', workspace.id),
    removeFromWorkspace: (caller: Caller, workspace: WorkspaceView, id: string) =>
      remove(caller, 'workspace', workspace.id, id),
    /**
     * Deletes the calling key, which requires no further right.
     * @throws API_KEY_NOT_FOUND
     */
    removeItself: (caller: Caller) =>
      caller.workspaceId === null
        ? remove(caller, 'user', caller.userId, caller.credentialId)
        : remove(caller, 'workspace', caller.workspaceId, caller.credentialId),
  }
}

export type ApiKeyService = ReturnType<typeof apiKeyService>

function toView(row: ApiKeyRow): ApiKeyView {
  return {
    ...row,
    scopes: row.scopes.split(' ') as KeyScope[],
    status: row.expiresAt !== null && row.expiresAt <= Date.now() ? 'expired' : 'active',
  }
}

function readInput(input: ApiKeyInput, allowed: readonly KeyScope[]) {
  const { name, description, expiresIn } = input
  const scopes = input.scopes.map(scope => scope.trim())
  const title = parseTitle(name, MAX_KEY_NAME)
  const text = description ?? ''
  if ([...text].length > MAX_KEY_DESCRIPTION || /\p{Cs}/u.test(text))
    throw new InvalidInput(
      'description',
      `A description has up to ${figure(MAX_KEY_DESCRIPTION)} characters.`,
    )
  if (scopes.length === 0) throw new InvalidInput('scopes', 'Give at least one scope.')
  const unknown = scopes.find(scope => !(allowed as readonly string[]).includes(scope))
  if (unknown !== undefined) throw unknownScope(unknown, allowed)
  return {
    name: title,
    description: text,
    scopes: allowed.filter(scope => scopes.includes(scope)),
    lifetime: expiresIn ? parseDuration(expiresIn, 'expires_in') : null,
  }
}

export const keyNotFound = () => new AppError('API_KEY_NOT_FOUND', 'There is no such API key.')

export const unknownScope = (scope: string, known: readonly string[]) =>
  new AppError(
    'INVALID_SCOPE',
    `There is no scope "${excerpt(scope)}" for this kind of key. Known scopes: ${known.join(', ')}.`,
    { field: 'scopes' },
  )
