import { persist } from '../../upload-engine/retry.ts'
import { type Client, clientOf, connect } from '../client.ts'
import {
  type Credential,
  environmentOf,
  findLogin,
  isOpen,
  readStored,
  readUrl,
  type Stored,
  writeStored,
} from '../credentials.ts'

import { Failure, isFailure } from '../failure.ts'
import { isId } from '../find-place.ts'
import { FindDocument, WorkspaceDocument, WorkspaceDriveDocument } from '../generated.ts'
import { revokeKey } from '../oauth.ts'
import type { Patience } from '../patience.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { plain } from '../text.ts'
import { type BrowserOptions, hasBrowser, signInByBrowser, signInByCode } from './browser-login.ts'

/** The response of `/auth/is_valid`. */
export interface Validity {
  authenticated: boolean
  user_info: { sub: string; email: string } | null
  via?: 'session' | 'api_key'
  expires_at?: string | null
}

export interface LoginOptions extends BrowserOptions {
  key?: boolean
  session?: boolean
  workspace?: string
  browser?: boolean
  device?: boolean
}

/** Timeout for revoking a key that could not be stored. */
const REVOKE_MS = 5000

type Way = 'browser' | 'device' | 'key' | 'session'

/**
 * Chooses the sign-in method: the given one, else the best for this computer. Scripts have no
 * terminal, so they pipe in a key.
 *
 * @throws USAGE
 */
function wayOf({ key, session, workspace, browser, device }: LoginOptions): Way {
  const said: Way[] = [
    ...(browser ? (['browser'] as const) : []),
    ...(device ? (['device'] as const) : []),
    ...(session ? (['session'] as const) : []),
    ...(key || (workspace !== undefined && !session) ? (['key'] as const) : []),
  ]
  if (said.length > 1)
    throw new Failure('USAGE', 'Choose one of --browser, --device, --session and --key.')
  const [way] = said
  if (way) return way
  if (!process.stdin.isTTY) return 'key'
  return hasBrowser() ? 'browser' : 'device'
}

export const validityOf = (client: Client): Promise<Validity> =>
  persist(() => client.rest<Validity>('/auth/is_valid'), 'repeatable', client.patience)

export async function login(
  context: Context,
  address: string | undefined,
  options: LoginOptions,
): Promise<Answer> {
  const { patience, notice } = context
  const [last] = await readStored()
  const named = address ?? environmentOf(context.service).url ?? last?.url
  if (named === undefined)
    throw new Failure(
      'USAGE',
      'Give the URL of the service: satchel login https://files.example.com',
    )
  const url = readUrl(named)
  if (options.workspace !== undefined && !isId(options.workspace))
    throw new Failure(
      'USAGE',
      '--workspace needs the id of the workspace: satchel workspace list --json shows it.',
    )
  if (isOpen(url))
    notice(`Warning: ${url} is not encrypted; others on the network can read the key.`)

  const way = wayOf(options)
  const isIssued = way === 'browser' || way === 'device'
  if (!isIssued && (options.for !== undefined || options.scope !== undefined))
    throw new Failure('USAGE', '--for and --scope are for new keys: add --browser or --device.')
  const kind = way === 'session' ? 'session' : 'key'
  const given = await credentialFor(context, url, way, options)
  const { user_info, expires_at, keyWorkspace, stored, replaced, file } = await keep(
    { url, kind, given, isIssued, workspace: options.workspace },
    patience,
  ).catch(async error => {
    // Revokes the new key, because nobody would have it. It uses its own signal: the signal of the
    // command may be what interrupted it.
    const briefly = { ...patience, signal: AbortSignal.timeout(REVOKE_MS), retries: 0 }
    if (isIssued) await revokeKey(url, given, briefly).catch(() => {})
    throw error
  })
  // Revokes the key of an earlier login, because nobody would have it any more.
  if (replaced) await revokeKey(url, replaced, patience).catch(() => {})
  if (last && last.url !== url)
    notice(
      `Commands now use ${url}. You are still signed in at ${last.url}: add --service ${last.url} to use it.`,
    )
  const slug = keyWorkspace && stored.workspaces[keyWorkspace.id]?.slug
  if (keyWorkspace && !slug)
    notice(
      `This key cannot read the slug of its workspace: write its paths as ${keyWorkspace.id}:/path.`,
    )
  const what = keyWorkspace
    ? `workspace ${slug || keyWorkspace.id}`
    : kind === 'session'
      ? 'session'
      : 'own files'
  return {
    fact: {
      url,
      email: user_info.email,
      via: kind,
      workspace: keyWorkspace && { ...keyWorkspace, slug },
      expiresAt: expires_at,
      file,
    },
    words: plain(`Signed in to ${url} as ${user_info.email} (${what}).`),
  }
}

/** The credential from the service or from the person. */
interface Received {
  url: string
  kind: 'session' | 'key'
  given: string
  isIssued: boolean
  workspace: string | undefined
}

/**
 * Stores a credential that the service accepts.
 *
 * @returns also the replaced key, if an earlier login issued it
 */
async function keep({ url, kind, given, isIssued, workspace }: Received, patience: Patience) {
  const client = clientOf(url, { kind, secret: given }, patience)
  const { authenticated, user_info, expires_at = null } = await validityOf(client)
  if (!authenticated || !user_info)
    throw new Failure(
      'UNAUTHENTICATED',
      `The service does not accept this ${kind}. It may be mistyped, expired or deleted.`,
    )

  const keyWorkspace = kind === 'session' || isIssued ? null : await workspaceOf(client, workspace)
  // Read only now, because the person may have taken minutes, and signed in elsewhere meanwhile.
  const before = await readStored()
  let replaced: string | undefined
  const stored: Stored = before.find(one => one.url === url) ?? { url, workspaces: {} }
  if (kind === 'session') stored.session = given
  else if (keyWorkspace)
    stored.workspaces[keyWorkspace.id] = {
      slug: await slugOf(keyWorkspace, stored, patience),
      key: given,
    }
  // If the same key was stored before, it must not be revoked as replaced.
  else if (stored.key !== given) {
    if (stored.issued && stored.key) replaced = stored.key
    stored.key = given
    stored.issued = isIssued
  }
  const file = await writeStored([stored, ...before.filter(one => one !== stored)])
  return { user_info, expires_at, keyWorkspace, stored, replaced, file }
}

/** The entry to store, for an issued or a typed credential. */
async function credentialFor(
  context: Context,
  url: string,
  way: Way,
  options: LoginOptions,
): Promise<string> {
  if (way === 'browser') return (await signInByBrowser(context, url, options)).access_token
  if (way === 'device') return (await signInByCode(context, url, options)).access_token
  const question = way === 'session' ? `Session cookie for ${url}: ` : `API key for ${url}: `
  const secret = await readSecret(
    question,
    context.patience.signal,
    'Nothing to read a key from. Use --device to sign in with a browser on another device.',
  )
  return secret.replace(/^session_id=/, '')
}

/** The workspace that a key belongs to; null for a private key. */
async function workspaceOf(
  client: Client,
  id: string | undefined,
): Promise<{ id: string; slug: string } | null> {
  if (id === undefined) {
    try {
      await client.request(FindDocument, { own: true, path: '' })
      return null
    } catch (error) {
      // A private key may lack the read scope.
      if (isFailure(error, 'INSUFFICIENT_SCOPE')) return null
      if (!isFailure(error, 'KEY_OUT_OF_BOUNDS')) throw error
    }
  }
  try {
    const { workspace: own } = await client.request(WorkspaceDocument, {})
    if (id === undefined || own.id === id) return { id: own.id, slug: own.slug }
  } catch (error) {
    if (!isFailure(error, 'INSUFFICIENT_SCOPE')) throw error
    if (id !== undefined) {
      await client.request(WorkspaceDriveDocument, { workspace: id })
      return { id, slug: '' }
    }
    throw new Failure('USAGE', 'This key cannot read its workspace. Add --workspace <id>.')
  }
  throw new Failure('KEY_OUT_OF_BOUNDS', 'This key belongs to no workspace, or to another one.')
}

/** The slug from the key itself, an earlier key or a stored session; empty if unknown. */
async function slugOf(
  { id, slug }: { id: string; slug: string },
  stored: Stored,
  patience: Patience,
): Promise<string> {
  if (slug) return slug
  const known = stored.workspaces[id]?.slug
  if (known || !stored.session) return known ?? ''
  const session = clientOf(stored.url, { kind: 'session', secret: stored.session }, patience)
  const found = await session.request(WorkspaceDocument, { id }).catch(() => null)
  return found?.workspace.slug ?? ''
}

export async function logout({ patience, notice, service }: Context): Promise<Answer> {
  const { url } = environmentOf(service)
  const stored = await readStored().catch(() => [])
  const own = url === undefined ? stored[0] : stored.find(one => one.url === readUrl(url))
  if (own?.session) {
    const credential: Credential = { kind: 'session', secret: own.session }
    await clientOf(own.url, credential, patience)
      .rest('/auth/logout', { method: 'POST' })
      .catch(() => notice(`The session could not be ended at ${own.url}; it expires within a day.`))
  }
  const ended = own ? await endIssued(own, { patience, notice }) : null
  const rest = stored.filter(one => one !== own)
  await writeStored(rest)
  const others = rest.map(one => one.url)
  const key = ended ? ' The API key of this login has been deleted.' : ''
  const stay = own && others.length > 0 ? ` You are still signed in at ${others.join(', ')}.` : ''
  return {
    fact: { loggedOut: own !== undefined, url: own?.url ?? null, keyDeleted: ended, others },
    words: plain(own ? `Signed out of ${own.url}.${key}${stay}` : 'You were not signed in.'),
  }
}

/**
 * Revokes the key that a login issued.
 *
 * @returns whether that worked; null if there is no such key
 */
async function endIssued(
  { url, key, issued }: Stored,
  { patience, notice }: Pick<Context, 'patience' | 'notice'>,
): Promise<boolean | null> {
  if (!issued || !key) return null
  try {
    await revokeKey(url, key, patience)
    return true
  } catch (error) {
    if (patience.signal.aborted) throw error
    notice(
      `The API key of this login could not be deleted at ${url}. Delete it there, under API keys.`,
    )
    return false
  }
}

export async function whoami({ patience, service: named }: Context): Promise<Answer> {
  const found = await findLogin(environmentOf(named))
  const service = connect(found, patience)
  const own: { name: string; client: Client }[] = [
    ...(found.personal ? [{ name: 'own files', client: service.personal }] : []),
    ...(found.session && found.session !== found.personal
      ? [{ name: 'session', client: service.session }]
      : []),
    ...found.workspaces.map(({ id, slug }) => ({
      name: `workspace ${slug || id}`,
      client: service.workspace(id),
    })),
  ]
  if (own.length === 0) await validityOf(service.personal)
  const credentials = await Promise.all(
    own.map(async ({ name, client }) => {
      const { authenticated, user_info, via = null, expires_at = null } = await validityOf(client)
      return {
        use: name,
        valid: authenticated,
        email: user_info?.email ?? null,
        via,
        expiresAt: expires_at,
      }
    }),
  )
  const valid = credentials.find(c => c.valid)
  if (!valid)
    throw new Failure(
      'UNAUTHENTICATED',
      `No stored credential for ${found.url} is valid. Run satchel login.`,
    )
  const lines = credentials.map(
    ({ use, valid: works, via, expiresAt }) =>
      `  ${use}: ${works ? (via === 'session' ? 'session' : 'API key') : 'no longer valid'}${expiresAt ? `, until ${expiresAt}` : ''}`,
  )
  return {
    fact: { url: found.url, email: valid.email, credentials },
    words: [`${valid.email} at ${found.url}`, ...lines].map(plain).join('\n'),
  }
}
