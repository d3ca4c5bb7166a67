import { validate as isUuid, v7 as newId } from 'uuid'
import type { Db, Tx } from '../../db/index.ts'
import type { Caller } from '../auth/caller.ts'
import { privateScopes, workspaceScopes } from '../auth/scopes.ts'
import { parseDuration } from '../duration.ts'
import { AppError, InvalidInput } from '../errors.ts'
import { hashSecret, newSecret } from '../tokens.ts'
import { firstOfEach, type Page } from './range.ts'
import { lockToManage } from './right.ts'
import type { WorkspaceService } from './workspace.ts'

export interface ApiKeyView {
  id: string
  name: string
  description: string
  status: 'active' | 'expired'
  scopes: string[]
  createdBy: string
  createdAt: number
  lastUsedAt: number | null
  expiresAt: number | null
  keyHint: string
}

/** A new key. Its secret is returned only here. */
export interface NewApiKey extends Omit<ApiKeyView, 'status' | 'lastUsedAt' | 'keyHint'> {
  key: string
  /** Null for a workspace key. */
  userId: string | null
  workspaceId: string | null
}

export interface ApiKeyInput {
  name: string
  scopes: string[]
  description?: string | null | undefined
  expiresIn?: string | null | undefined
}

type ApiKeyRow = Omit<ApiKeyView, 'status' | 'scopes'> & { scopes: string }

/** The cursor of a key in a list, newest first. */
type ApiKeyPlace = [createdAt: number, id: string]

const columns = `id, name, description, scopes, created_by AS createdBy, created_at AS createdAt, last_used_at AS lastUsedAt,
         expires_at AS expiresAt, hint AS keyHint`

export function apiKeyService({ db, workspaces }: { db: Db; workspaces: WorkspaceService }) {
  async function create(
    caller: Caller,
    workspaceId: string | null,
    allowed: readonly string[],
    input: ApiKeyInput,
  ): Promise<NewApiKey> {
    const wish = readInput(input, allowed)
    const key = `satchel_${newSecret()}`
    const [id, createdAt] = [newId(), Date.now()]
    const expiresAt = wish.lifetime === null ? null : createdAt + wish.lifetime
    await db.transaction(async tx => {
      await requireKeyQuota(caller, workspaceId, tx)
      await db.run(
        `INSERT INTO api_key (id, hash, hint, name, description, scopes, workspace_id, created_by, created_at, last_used_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)`,
        [
          id,
          hashSecret(key).toString('hex'),
          key.slice(-4),
          wish.name,
          wish.description,
          wish.scopes.join(' '),
          workspaceId,
          caller.userId,
          createdAt,
          expiresAt,
        ],
        tx,
      )
    })
    const { name, description, scopes } = wish
    const userId = workspaceId === null ? caller.userId : null
    return { id, name, description, key, scopes, userId, workspaceId, createdBy: caller.userId, createdAt, expiresAt }
  }

  /** Counts under a lock, so that parallel requests cannot exceed the limit. @throws QUOTA_EXCEEDED */
  async function requireKeyQuota(caller: Caller, workspaceId: string | null, tx: Tx): Promise<void> {
    const limit = workspaceId === null ? 'max_private_api_keys' : 'max_workspace_api_keys'
    if (workspaceId === null) await db.rows(`SELECT id FROM user WHERE id = ?${db.forUpdate}`, [caller.userId], tx)
    // Without this lock, a key that is created while its creator is being removed would survive.
    else await lockToManage(db, caller, workspaceId, tx)
    const [row] =
      workspaceId === null
        ? await db.rows<{ used: number; max: number }>(
            `SELECT (SELECT COUNT(*) FROM api_key k WHERE k.created_by = u.id AND k.workspace_id IS NULL) AS used, p.${limit} AS max
             FROM user u JOIN plan p ON p.id = u.plan_id WHERE u.id = ?`,
            [caller.userId],
            tx,
          )
        : await db.rows<{ used: number; max: number }>(
            `SELECT (SELECT COUNT(*) FROM api_key k WHERE k.workspace_id = w.id) AS used, p.${limit} AS max
             FROM workspace w JOIN user o ON o.id = w.owner_id JOIN plan p ON p.id = o.plan_id WHERE w.id = ?`,
            [workspaceId],
            tx,
          )
    if (row && Number(row.used) >= row.max)
      throw new AppError('QUOTA_EXCEEDED', `The plan allows ${row.max} API keys. Delete one first.`, {
        limit,
        max: row.max,
        used: Number(row.used),
      })
  }

  async function list(where: string, values: string[]): Promise<ApiKeyView[]> {
    const rows = await db.rows<ApiKeyRow>(
      `SELECT ${columns} FROM api_key WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT 10000`,
      values,
    )
    return rows.map(toView)
  }

  async function pagesOf(of: string, owners: string[], limit: number, after: ApiKeyPlace | null) {
    const pages = await firstOfEach<ApiKeyRow>(db, `SELECT ${of} AND (created_at < ? OR (created_at = ? AND id < ?))`, {
      order: 'createdAt DESC, id DESC',
      owners,
      values: [after?.[0] ?? Number.MAX_SAFE_INTEGER, after?.[0] ?? 0, after?.[1] ?? ''],
      limit,
    })
    return new Map(Array.from(pages, ([owner, { rows, more }]) => [owner, { rows: rows.map(toView), more }]))
  }

  async function remove(id: string, where: string, values: string[]): Promise<void> {
    const removed = isUuid(id) ? await db.run(`DELETE FROM api_key WHERE id = ? AND ${where}`, [id, ...values]) : 0
    if (removed === 0) throw new AppError('API_KEY_NOT_FOUND', 'There is no such API key.')
  }

  return {
    /** @throws INVALID_SCOPE, INVALID_DURATION, INVALID_INPUT, QUOTA_EXCEEDED */
    createPrivate: (caller: Caller, input: ApiKeyInput) => create(caller, null, privateScopes, input),
    /** The private keys of the caller, newest first. */
    async pageOfPrivate(caller: Caller, limit: number, after: ApiKeyPlace | null): Promise<Page<ApiKeyView>> {
      const of = `created_by AS owner, ${columns} FROM api_key WHERE created_by = ? AND workspace_id IS NULL`
      return (await pagesOf(of, [caller.userId], limit, after)).get(caller.userId) ?? { rows: [], more: false }
    },
    /** The keys of some workspaces, newest first. Does not authorize: pass only workspaces that the caller may manage. */
    pagesOfWorkspaces: (workspaceIds: string[], limit: number, after: ApiKeyPlace | null) =>
      pagesOf(`workspace_id AS owner, ${columns} FROM api_key WHERE workspace_id = ?`, workspaceIds, limit, after),
    listPrivate: (caller: Caller) => list('created_by = ? AND workspace_id IS NULL', [caller.userId]),
    /** Deletes a key; its next request is refused. @throws API_KEY_NOT_FOUND */
    removePrivate: (caller: Caller, id: string) =>
      remove(id, 'created_by = ? AND workspace_id IS NULL', [caller.userId]),

    async createForWorkspace(caller: Caller, workspaceId: string, input: ApiKeyInput) {
      await workspaces.enter(caller, workspaceId, 'manage')
      return create(caller, workspaceId, workspaceScopes, input)
    },
    async listOfWorkspace(caller: Caller, workspaceId: string) {
      await workspaces.enter(caller, workspaceId, 'manage')
      return list('workspace_id = ?', [workspaceId])
    },
    async removeFromWorkspace(caller: Caller, workspaceId: string, id: string) {
      await workspaces.enter(caller, workspaceId, 'manage')
      await remove(id, 'workspace_id = ?', [workspaceId])
    },
  }
}

export type ApiKeyService = ReturnType<typeof apiKeyService>

function toView(row: ApiKeyRow): ApiKeyView {
  return {
    ...row,
    scopes: row.scopes.split(' '),
    status: row.expiresAt !== null && row.expiresAt <= Date.now() ? 'expired' : 'active',
  }
}

function readInput(input: ApiKeyInput, allowed: readonly string[]) {
  const { name, description, expiresIn } = input
  const scopes = input.scopes.map(scope => scope.trim())
  const title = name.trim()
  if (title === '' || [...title].length > 100 || /[\p{Cc}\p{Cs}]/u.test(title))
    throw new InvalidInput('name', 'A name has 1 to 100 characters, on one line.')
  const text = description ?? ''
  if ([...text].length > 1000 || /\p{Cs}/u.test(text))
    throw new InvalidInput('description', 'A description has up to 1,000 characters.')
  if (scopes.length === 0) throw new InvalidInput('scopes', 'Name at least one scope.')
  const unknown = scopes.find(scope => !allowed.includes(scope))
  if (unknown !== undefined)
    throw new AppError(
      'INVALID_SCOPE',
      `There is no scope "${unknown.slice(0, 100)}" for this kind of key. Known are: ${allowed.join(', ')}.`,
      { field: 'scopes' },
    )
  return {
    name: title,
    description: text,
    scopes: allowed.filter(scope => scopes.includes(scope)),
    lifetime: expiresIn ? parseDuration(expiresIn, 'expires_in') : null,
  }
}
