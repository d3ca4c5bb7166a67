import { Failure } from './failure.ts'

/** A path as it is typed: of one's own files, or of a workspace. */
export interface RemotePath {
  /** Slug or id of the workspace; undefined for one's own files. */
  workspace: string | undefined
  /** Names joined by slashes, without one at either end; empty for the root. */
  path: string
  /** Whether a slash ends it, so that it means a folder. */
  isFolder: boolean
}

/**
 * Reads `docs/a.txt` or `/docs/a.txt`, one's own, or `garden:/docs/a.txt`, of the workspace `garden` (a slug or an id). An own path whose
 * first name has such a beginning is written with a slash before it.
 */
export function parseRemote(text: string): RemotePath {
  const [, workspace, rest = text] = /^([a-z0-9-]+):(.*)$/s.exec(text) ?? []
  const path = rest.replace(/^\/+/, '').replace(/\/+$/, '')
  return { workspace, path, isFolder: path === '' || rest.endsWith('/') }
}

export const joinPath = (...parts: string[]): string => parts.filter(part => part !== '').join('/')

/** The folder and the name of a path. */
export function splitPath(path: string): { folder: string; name: string } {
  const cut = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(cut, 0)), name: path.slice(cut + 1) }
}

/** The token of a link, for what a person may paste: the link or the token. */
export function parseLink(text: string): { token: string; origin: string | undefined } {
  const url = /^https?:/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const token = url ? /\/(?:share|invite|d)\/([\w-]+)\/?$/.exec(url.pathname)?.[1] : text
  if (!token || !/^[\w-]+$/.test(token))
    throw new Failure('USAGE', `"${text}" is no link and no token. Copy it from the mail or from the list.`)
  return { token, origin: url?.origin }
}

/** The token of a link of this service. A link of another one says nothing here. */
export function ownToken(text: string, url: string): string {
  const { token, origin } = parseLink(text)
  if (origin === undefined || origin === new URL(url).origin) return token
  throw new Failure(
    'USAGE',
    `This link is of ${origin}, and you are signed in at ${url}. Choose the other with --service; where both are the same service, give the token alone.`,
  )
}

/** Names that make a path leave its folder, or mean something else to a disk. */
export function isSafeName(name: string, platform: NodeJS.Platform = process.platform): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\\\p{Cc}]/u.test(name)) return false
  return platform !== 'win32' || !(/[<>:"|?*]|[. ]$/.test(name) || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name))
}
