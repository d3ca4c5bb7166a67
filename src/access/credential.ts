import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import type { Db } from '../../db/index.ts'
import {
  type CallerRow,
  type CredentialColumn,
  findKeyCallers,
  findSessionCallers,
  findTokenCallers,
  setLastUse,
} from '../../db/queries/caller.ts'
import { hashSecret } from '../runtime/tokens.ts'
import type { Caller } from './caller.ts'
import { oneLookup } from './one-lookup.ts'

export const SESSION_COOKIE = 'session_id'

/** The maximum length of a credential. Longer ones are not hashed. */
const MAX_SECRET = 128

/** Finds callers by the credentials of requests. */
export interface CallerFinder {
  /**
   * The caller of a request; null without a credential, or with a wrong, expired or revoked one.
   */
  (req: IncomingMessage): Promise<Caller | null>
  /** The caller of a key that an interface receives elsewhere; null for any other text. */
  byKey(secret: string): Promise<Caller | null>
  /** The caller of an access token for a resource; null for any other text. */
  byToken(token: string, resource: string): Promise<Caller | null>
}

/**
 * Finds the sessions of all concurrent requests with one statement, and their keys with another. An
 * API key takes precedence over a cookie: contract, section 1.
 */
export function callerFinder(db: Db): CallerFinder {
  const findByHash = oneLookup(hashes => findKeys(db, 'hash', hashes))
  const findBySession = oneLookup(hashes => findSessions(db, 'hash', hashes))
  const byKey = async (secret: string) =>
    secret.length <= MAX_SECRET ? findByHash(hashOf(secret)) : null

  async function find(req: IncomingMessage): Promise<Caller | null> {
    const key = keyOf(req)
    if (key !== undefined) return byKey(key)
    const secret = sessionSecret(req)
    const caller = secret ? await findBySession(hashOf(secret)) : null
    // A page may stay open while another account signs in in the same browser. The page must not
    // act for the other account.
    const account = req.headers['x-account']
    return account === undefined || account === caller?.userId ? caller : null
  }

  const findCaller = async (req: IncomingMessage) => {
    const caller = await find(req)
    if (caller) callers.set(req, caller)
    return caller
  }
  const byToken = async (token: string, resource: string) => {
    if (token.length > MAX_SECRET) return null
    const [row] = await findTokenCallers(db, hashOf(token), resource, Date.now())
    return row ? callerOfKey(db, row) : null
  }
  return Object.assign(findCaller, { byKey, byToken })
}

/**
 * Authenticates an earlier request's credential again, for work that outlives the request; null if
 * it has expired or was revoked.
 */
export const findCallerAgain = (
  db: Db,
  { via, credentialId }: Pick<Caller, 'via' | 'credentialId'>,
) => findOne(via === 'session' ? findSessions : findKeys, db, 'id', credentialId)

/** The key that a request sends, if any. */
export const keyOf = (req: IncomingMessage): string | undefined =>
  req.headers['x-api-key']?.toString() ?? bearerKey(req)

/**
 * The key in a Bearer header (RFC 6750). Other tokens are ignored, because a proxy may add its own,
 * and the cookie still counts.
 */
function bearerKey({ headers }: IncomingMessage): string | undefined {
  const given = headers.authorization
  return given === undefined ? undefined : /^Bearer +(satchel_[\w-]+)$/i.exec(given)?.[1]
}

const hashOf = (secret: string) => hashSecret(secret).toString('hex')

/** The authenticated callers of requests, for the request log. */
const callers = new WeakMap<IncomingMessage, Caller>()

/** Records the caller of a request that was authenticated differently. */
export const noteCaller = (req: IncomingMessage, caller: Caller): void =>
  void callers.set(req, caller)

export const callerOf = (req: IncomingMessage): Caller | undefined => callers.get(req)

/** The secret in the session cookie, if it has our format. */
export function sessionSecret(req: IncomingMessage): string | undefined {
  const cookies = req.headers.cookie
  const secret = cookies?.includes(SESSION_COOKIE)
    ? parseCookie(cookies)[SESSION_COOKIE]
    : undefined
  return secret && secret.length <= MAX_SECRET ? secret : undefined
}

/**
 * The resolution of the last use. Recording every use would turn each read into a write. A session
 * is written when it begins.
 */
const USE_GRAIN_MS = { session: 5 * 60_000, api_key: 60_000 }

/** Whether a credential is valid now. Records its use in the background, and ignores failures. */
function use(
  db: Db,
  table: 'session' | 'api_key',
  { id, expiresAt, lastUsedAt }: CallerRow,
): boolean {
  const now = Date.now()
  if (expiresAt !== null && expiresAt <= now) return false
  if (lastUsedAt === null || lastUsedAt < now - USE_GRAIN_MS[table])
    setLastUse(db, table, id, now).catch(() => {})
  return true
}

/** Finds the callers of valid credentials by the values of a column. */
type Find = (
  db: Db,
  by: CredentialColumn,
  values: readonly string[],
) => Promise<Map<string, Caller>>

const findSessions: Find = async (db, by, values) =>
  callersOf(await findSessionCallers(db, by, values), by, row =>
    use(db, 'session', row)
      ? toCaller(row, { via: 'session', scopes: null, workspaceId: null })
      : null,
  )

/**
 * A key has its creator's current rights: the account is checked here, and the role when the
 * workspace is opened.
 */
const findKeys: Find = async (db, by, values) =>
  callersOf(await findKeyCallers(db, by, values), by, row => callerOfKey(db, row))

const callerOfKey = (
  db: Db,
  row: CallerRow & { scopes: string; workspaceId: string | null },
): Caller | null =>
  use(db, 'api_key', row)
    ? toCaller(row, {
        via: 'api_key',
        scopes: new Set(row.scopes.split(' ')),
        workspaceId: row.workspaceId,
      })
    : null

function callersOf<Row extends CallerRow>(
  rows: Row[],
  by: CredentialColumn,
  callerOf: (row: Row) => Caller | null,
): Map<string, Caller> {
  const found = new Map<string, Caller>()
  for (const row of rows) {
    const caller = callerOf(row)
    if (caller) found.set(row[by], caller)
  }
  return found
}

const findOne = async (
  find: Find,
  db: Db,
  by: CredentialColumn,
  value: string,
): Promise<Caller | null> => (await find(db, by, [value])).get(value) ?? null

function toCaller(
  row: CallerRow,
  credential: Pick<Caller, 'via' | 'scopes' | 'workspaceId'>,
): Caller {
  const { id, userId, email, verifiedEmail, name, picture, expiresAt } = row
  const { bucketId, rootId, maxFolders, maxFileSizeBytes, maxTotalStorageBytes, maxFiles } = row
  const { maxPublicLinks, maxNotes } = row
  return {
    userId,
    email,
    verifiedEmail,
    name,
    picture,
    credentialId: id,
    expiresAt,
    ...credential,
    bucket: { bucketId, rootId, maxFolders },
    limits: { maxFileSizeBytes, maxTotalStorageBytes, maxFiles },
    bounds: { maxPublicLinks, maxNotes },
  }
}
