import type { Services } from '../services/index.ts'
import { namesIn } from './address.ts'
import { type Asker, type Place, placeOf } from './place.ts'
import { DavError } from './refusal.ts'

/** The URLs under which the methods of WebDAV are offered, and the tree that they show. */
export interface Face {
  /**
   * Whether MOVE works from one drive to another, by a copy. Clients show the tree as one folder.
   */
  movesBetweenDrives?: true
  /** The URL path in front of the names. */
  prefix: string
  /**
   * The names in a URL path. A path prefix that a proxy strips from requests is ignored.
   * @throws DavError 400, 502 for a path of another face
   */
  segmentsOf(path: string): string[]
  /** @throws FOLDER_NOT_FOUND, INVALID_PATH */
  placeOf(services: Services, asker: Asker, segments: readonly string[]): Promise<Place>
}

/** The face at /dav/: the drives of a person, and the shares that they received. */
export const ownFace: Face = {
  prefix: '/dav',
  segmentsOf(path) {
    const at = `${path}/`.indexOf('/dav/')
    if (at < 0) throw new DavError(502, 'The destination is not below /dav/.')
    return namesIn(path.slice(at + '/dav'.length))
  },
  placeOf,
}
