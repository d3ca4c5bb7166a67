import { FOLDER } from '../../../db/models/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { namesIn } from '../../dav/address.ts'
import type { Face } from '../../dav/face.ts'
import { READ_ONLY } from '../../dav/letters.ts'
import {
  type Asker,
  etagOf,
  inOwnDrive,
  type Place,
  placeOf,
  type Virtual,
} from '../../dav/place.ts'
import type { Reading, Resource } from '../../dav/reading.ts'
import { DavError } from '../../dav/refusal.ts'
import type { Services } from '../../services/index.ts'
import { stampOf } from '../../values/stamp.ts'

/** The name of the folder with received shares, in the root of a person's files. */
const SHARED_NAME = 'Shared with me'
/** The name of the folder with workspaces there. */
export const WORKSPACES_NAME = 'Workspaces'

/** The two addresses of the files of a person. The second one names the person. */
const ADDRESS = /\/remote\.php\/(?:webdav|dav\/files\/([^/]+))(?=\/|$)/

export const notYours = () =>
  new DavError(404, 'These are not your files. Sign in as the person whom the URL names.')

/** Whether a segment of a URL names the caller, by e-mail address. */
export function isOf({ email }: Caller, segment: string): boolean {
  try {
    return decodeURIComponent(segment).toLowerCase() === email.toLowerCase()
  } catch {
    return false
  }
}

/** The folders in the root of a person's files that are not their own, and what they contain. */
const FOLDERS = [
  { name: SHARED_NAME, from: 'shared' },
  { name: WORKSPACES_NAME, from: 'workspaces' },
] as const
type Folder = (typeof FOLDERS)[number]

/** One of these folders, as an entry of the root. */
function virtualFolder({ name }: Folder, { children }: Virtual, id: string): Resource {
  // Clients learn of new permissions only if the ETag changes.
  const tags = children.flatMap(({ name, resource }) =>
    resource ? [name, resource.letters ?? '', etagOf(resource)] : [name],
  )
  const times = { createdAt: 0, updatedAt: 0, modifiedAt: 0 }
  const size = children.reduce((sum, { resource }) => sum + (resource?.size ?? 0), 0)
  return {
    id,
    kind: FOLDER,
    name,
    contentType: '',
    size,
    ...times,
    revision: null,
    contentRevision: null,
    changeStamp: stampOf(tags),
    letters: READ_ONLY,
  }
}

/** No entry has the id of a person or of a drive. */
const idOf = ({ from }: Folder, { userId, bucket }: Caller): string =>
  from === 'shared' ? userId : bucket.bucketId

/** The root of a drive with more folders in it. */
const withFolders = (reading: Reading, folders: readonly Resource[]): Reading => ({
  ...reading,
  async find(names) {
    const found = await reading.find(names)
    if (!found || names.length > 0) return found
    const stamps = folders.map(({ changeStamp }) => changeStamp)
    return { ...found, changeStamp: stampOf([found.changeStamp, ...stamps]) }
  },
  async *pages(top, names, size) {
    yield* reading.pages(top, names, size)
    if (names.length === 0) yield [...folders]
  },
})

/**
 * A path in the files of a person: their own drive, and in its root a folder with what was shared
 * with them and one with their workspaces. An empty one is left out.
 */
async function placeInFiles(
  services: Services,
  asker: Asker,
  segments: readonly string[],
): Promise<Place> {
  const { caller } = asker
  const [first, ...rest] = segments
  const own = inOwnDrive(services, asker, segments, [])
  const named = FOLDERS.find(({ name }) => name === first)
  if (first !== undefined && !named) return own
  // The person may have a folder of such a name, which comes first.
  const isOwn = async ({ name }: Folder) => (await own.reading.find([name])) !== null
  if (named) {
    if (await isOwn(named)) return own
    const { name, from } = named
    const place = await placeOf(services, asker, [from, ...rest])
    if (place.reading) return { ...place, base: [name, ...place.base.slice(1)] }
    const resource = virtualFolder(named, place, idOf(named, caller))
    return { ...place, names: [name], title: name, resource }
  }
  const folders: Resource[] = []
  for (const folder of FOLDERS) {
    const place = (await placeOf(services, asker, [folder.from])) as Virtual
    if (place.children.length > 0 && !(await isOwn(folder)))
      folders.push(virtualFolder(folder, place, idOf(folder, caller)))
  }
  return folders.length === 0 ? own : { ...own, reading: withFolders(own.reading, folders) }
}

/**
 * The files of a person as Nextcloud's clients see them.
 * @param path the path of the request, whose spelling of the prefix listings repeat
 * @throws DavError 404 for the files of another person
 */
export function filesFace(path: string, caller: Caller): Face {
  return {
    prefix: ADDRESS.exec(path)?.[0] ?? '/remote.php/webdav',
    segmentsOf(of) {
      const found = ADDRESS.exec(of)
      if (!found) throw new DavError(502, 'The destination is not below /remote.php/.')
      const [all, user] = found
      if (user !== undefined && !isOf(caller, user)) throw notYours()
      return namesIn(of.slice(found.index + all.length))
    },
    placeOf: placeInFiles,
    movesBetweenDrives: true,
  }
}
