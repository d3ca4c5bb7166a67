import { Failure } from './failure.ts'

/** A parsed remote path: in the user's own files, or in a workspace. */
export interface RemotePath {
  /** Slug or id of the workspace; undefined for the own files. */
  workspace: string | undefined
  /** Names joined by slashes, without leading or trailing slash; empty for the root. */
  path: string
  /** Whether it ends with a slash and therefore means a folder. */
  isFolder: boolean
}

/**
 * Parses `docs/a.txt`, `/docs/a.txt` or `:/docs/a.txt` (own files), or `garden:/docs/a.txt`
 * (workspace `garden`, by slug or id). An own path that looks like a workspace needs a leading
 * slash.
 */
export function parseRemote(text: string): RemotePath {
  const [, workspace, rest = text] = marked.exec(text) ?? []
  const path = rest.replace(/^\/+/, '').replace(/\/+$/, '')
  return { workspace: workspace || undefined, path, isFolder: path === '' || rest.endsWith('/') }
}

const marked = /^([a-z0-9-]*):(.*)$/s

/** Whether a colon marks a path as remote, for arguments that may also be local. */
export const isMarkedRemote = (
  text: string,
  platform: NodeJS.Platform = process.platform,
): boolean => marked.test(text) && !(platform === 'win32' && /^[a-z]:[\\/]/.test(text))

/** @throws USAGE */
export function requireOneRemote(one: string, other: string): void {
  if (isMarkedRemote(one) !== isMarkedRemote(other)) return
  throw new Failure(
    'USAGE',
    'Exactly one of the two folders must be remote, with a colon: :/docs for one of your own, garden:/docs for one in a workspace.',
  )
}

export const joinPath = (...parts: string[]): string => parts.filter(part => part !== '').join('/')

/** Splits a path into folder and name. */
export function splitPath(path: string): { folder: string; name: string } {
  const cut = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(cut, 0)), name: path.slice(cut + 1) }
}

/**
 * Parses a path below a share link: `https://files.example.com/share/6mJ.../docs/a.txt`. Returns
 * undefined for any other path.
 */
export function parseShared(
  text: string,
): (Omit<RemotePath, 'workspace'> & { link: string }) | undefined {
  const [, link, rest = ''] = /^(https?:\/\/[^?#]*?\/share\/[\w-]+)(?:\/(.*))?$/s.exec(text) ?? []
  if (link === undefined) return undefined
  const path = rest.replace(/^\/+/, '').replace(/\/+$/, '')
  return { link, path, isFolder: path === '' || rest.endsWith('/') }
}

/**
 * The token of a link or a bare token, and the origin of a link.
 *
 * @throws USAGE
 */
export function parseLink(text: string): { token: string; origin: string | undefined } {
  const url = /^https?:/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const token = url ? /\/(?:share|request|invite|d)\/([\w-]+)\/?$/.exec(url.pathname)?.[1] : text
  if (!token || !/^[\w-]+$/.test(token))
    throw new Failure(
      'USAGE',
      `"${text}" is neither a link nor a token. Copy it from the mail or from the list.`,
    )
  return { token, origin: url?.origin }
}

/**
 * The token of a link of this service.
 *
 * @throws USAGE for links of other services
 */
export function ownToken(text: string, url: string): string {
  const { token, origin } = parseLink(text)
  if (origin === undefined || origin === new URL(url).origin) return token
  throw new Failure(
    'USAGE',
    `This link belongs to ${origin}, but you are signed in at ${url}. Select the other with --service; if both are the same service, give only the token.`,
  )
}

/**
 * False for names that would escape their folder, or that the local file system treats specially.
 */
export function isSafeName(name: string, platform: NodeJS.Platform = process.platform): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\\\p{Cc}]/u.test(name)) return false
  return (
    platform !== 'win32' ||
    !(/[<>:"|?*]|[. ]$/.test(name) || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name))
  )
}
