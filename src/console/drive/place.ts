import { useParams } from '@tanstack/react-router'

/** The folder on the screen: in the person's own drive, in a workspace, or in a share. */
export interface Place {
  /** Slug of the workspace; null for the own drive. */
  workspace: string | null
  /** Id of the share that gives access to the folder. */
  share?: string | undefined
  /** Names joined by slashes, without a leading slash. */
  path: string
}

/** The route parameters of a place. */
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

/** The place that the current URL shows. */
export const usePlace = (): Place => placeOf(useParams({ strict: false }))

/** In the graph, paths in workspaces begin with a slash. */
export const trim = (path: string): string => path.replace(/^\/+|\/+$/g, '')

/** The URL of a place. */
export function hrefOf({ workspace, share, path }: Place): string {
  const ofDrive =
    workspace === null ? '/files' : `/workspaces/${encodeURIComponent(workspace)}/files`
  const root = share === undefined ? ofDrive : `/shared/${encodeURIComponent(share)}`
  return path ? `${root}/${path.split('/').map(encodeURIComponent).join('/')}` : root
}

/** The URL of another screen (such as the trash) of the same drive. */
export const screenOf = (
  { workspace }: Pick<Place, 'workspace'>,
  screen: 'trash' | 'activity' | 'pictures',
): string =>
  workspace === null ? `/${screen}` : `/workspaces/${encodeURIComponent(workspace)}/${screen}`

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const join = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name)

/**
 * The id of an entry in a share is its encoded path. URLs list such ids with dots between them, so
 * dots are encoded, too.
 */
export const idInShare = (path: string): string => encodeURIComponent(path).replaceAll('.', '%2E')
