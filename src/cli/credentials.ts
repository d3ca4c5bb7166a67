import { chmod, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { type Environment, findFolders, readEnvironment } from './config.ts'
import { Failure } from './failure.ts'

/** An API key, or the cookie of a browser session. */
export interface Credential {
  kind: 'key' | 'session'
  secret: string
}

/** The stored credentials for one service. */
export interface Stored {
  url: string
  /** A private key. */
  key?: string
  /** Whether a login issued the key. Logout then revokes it. */
  issued?: boolean
  session?: string
  /** Workspace keys by workspace id. */
  workspaces: Record<string, { slug: string; key: string }>
}

/** A service and its credentials. */
export interface Login {
  url: string
  /** For the caller's own files. */
  personal: Credential | undefined
  /** For operations that keys may not use. */
  session: Credential | undefined
  workspaces: { id: string; slug: string; credential: Credential }[]
}

const fileIn = (folder: string) => join(folder, 'credentials.json')

/**
 * The stored logins, one per service, latest first.
 *
 * @throws LOCAL_FILE
 */
export async function readStored(): Promise<Stored[]> {
  const { config } = await findFolders()
  const text = await readFile(fileIn(config), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return []
  const stored = parse(text)
  if (!stored)
    throw new Failure(
      'LOCAL_FILE',
      `${fileIn(config)} cannot be read. Remove it, and run satchel login.`,
    )
  return stored
}

function parse(text: string): Stored[] | null {
  try {
    // Earlier versions stored a single object.
    const all = [JSON.parse(text)].flat() as (Partial<Stored> | null)[]
    const known = all.flatMap(one =>
      typeof one?.url === 'string' ? { workspaces: {}, ...one, url: one.url } : [],
    )
    return known.length === all.length ? known : null
  } catch {
    return null
  }
}

/** Only the user can read the file, whatever the mode of the folder. An empty list deletes it. */
export async function writeStored(stored: Stored[]): Promise<string> {
  const { config } = await findFolders()
  const file = fileIn(config)
  if (stored.length === 0) {
    await rm(file, { force: true })
    return file
  }
  await mkdir(config, { recursive: true, mode: 0o700 })
  await chmod(config, 0o700)
  await writeFileAtomic(file, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 })
  await chmod(file, 0o600)
  return file
}

/** The environment for the service of `--service`. It omits credentials of other services. */
export function environmentOf(service: string | undefined): Environment {
  const environment = readEnvironment()
  if (service === undefined) return environment
  const url = readUrl(service)
  const isFor = environment.url === undefined || readUrl(environment.url) === url
  return isFor
    ? { ...environment, url }
    : { ...environment, url, key: undefined, session: undefined }
}

/**
 * The credentials from the environment, else the stored ones. They are only ever sent to their own
 * service.
 *
 * @throws NOT_SIGNED_IN if no service is known
 */
export async function findLogin(environment: Environment): Promise<Login> {
  const stored = await readStored()
  const url = environment.url === undefined ? stored[0]?.url : readUrl(environment.url)
  if (url === undefined)
    throw new Failure(
      'NOT_SIGNED_IN',
      'You are not signed in. Run satchel login, or set SATCHEL_URL and SATCHEL_KEY.',
    )
  const own = stored.find(one => one.url === url)
  const key = credential('key', environment.key)
  const session = credential('session', environment.session)
  if (key || session)
    return { url, personal: key ?? session, session: session ?? key, workspaces: [] }
  const ownSession = credential('session', own?.session)
  const personal = credential('key', own?.key) ?? ownSession
  return {
    url,
    personal,
    session: ownSession ?? personal,
    workspaces: Object.entries(own?.workspaces ?? {}).map(([id, { slug, key: secret }]) => ({
      id,
      slug,
      credential: { kind: 'key', secret },
    })),
  }
}

const credential = (
  kind: Credential['kind'],
  secret: string | undefined,
): Credential | undefined => (secret ? { kind, secret } : undefined)

/** The URL of a service, without a trailing slash. @throws USAGE */
export function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Failure(
      'USAGE',
      `"${text}" is not the URL of a service. Write it as https://files.example.com.`,
    )
  if (url.username || url.password)
    throw new Failure('USAGE', 'Give the URL without a user name and a password.')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** Whether the connection is unencrypted and leaves this machine. */
export const isOpen = (url: string): boolean => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}
