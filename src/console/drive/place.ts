import { useParams } from '@tanstack/react-router'

/**
 * A folder on the screen: of the own drive, of the drive of a workspace, or of what is shared with
 * the person.
 */
export interface Place {
  /** The slug of the workspace; null for the own drive. */
  workspace: string | null
  /** The id of the share by which it is reached. */
  share?: string | undefined
  /** Names joined by slashes, without one before them. */
  path: string
}

/** What an address says of a place. */
export interface PlaceParams {
  slug?: string
  share?: string
  _splat?: string
}

export const placeOf = ({ slug, share, _splat }: PlaceParams): Place => ({
  workspace: slug ?? null,
  share,
  path: trim(_splat ?? ''),
})

/** The place in the address. */
export const usePlace = (): Place => placeOf(useParams({ strict: false }))

/** Paths of workspaces begin with a slash in the graph. */
export const trim = (path: string): string => path.replace(/^\/+|\/+$/g, '')

/** The address of a place. */
export function hrefOf({ workspace, share, path }: Place): string {
  const ofDrive =
    workspace === null ? '/files' : `/workspaces/${encodeURIComponent(workspace)}/files`
  const root = share === undefined ? ofDrive : `/shared/${encodeURIComponent(share)}`
  return path ? `${root}/${path.split('/').map(encodeURIComponent).join('/')}` : root
}

/** The address of another screen of the drive of a place. */
export const screenOf = (
  { workspace }: Pick<Place, 'workspace'>,
  screen: 'trash' | 'activity' | 'pictures',
): string =>
  workspace === null ? `/${screen}` : `/workspaces/${encodeURIComponent(workspace)}/${screen}`

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const join = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name)

/**
 * The id of what is in a share: it is named by its path. It stands in addresses, where a dot is
 * between two of them.
 */
export const idInShare = (path: string): string => encodeURIComponent(path).replaceAll('.', '%2E')
