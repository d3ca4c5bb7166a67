import { FOLDER } from '../../../db/models/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { namesIn } from '../../dav/address.ts'
import type { Face } from '../../dav/face.ts'
import { READ_ONLY } from '../../dav/letters.ts'
import { type Asker, etagOf, inOwnDrive, type Place, placeOf } from '../../dav/place.ts'
import type { Reading, Resource } from '../../dav/reading.ts'
import { DavError } from '../../dav/refusal.ts'
import type { Services } from '../../services/index.ts'
import { stampOf } from '../../values/stamp.ts'

/** The name of the folder with received shares, in the root of a person's files. */
export const SHARED_NAME = 'Shared with me'

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

type Virtual = Place & { reading?: undefined }

/** The list of received shares, as an entry of the root. */
function sharedFolder({ children }: Virtual, { userId }: Caller): Resource {
  // Clients learn of new permissions only if the ETag changes.
  const tags = children.flatMap(({ name, resource }) =>
    resource ? [name, resource.letters ?? '', etagOf(resource)] : [name],
  )
  const times = { createdAt: 0, updatedAt: 0, modifiedAt: 0 }
  const size = children.reduce((sum, { resource }) => sum + (resource?.size ?? 0), 0)
  return {
    // No entry has the id of a person.
    id: userId,
    kind: FOLDER,
    name: SHARED_NAME,
    contentType: '',
    size,
    ...times,
    revision: null,
    changeStamp: stampOf(tags),
    letters: READ_ONLY,
  }
}

/** The root of a drive with one more folder in it. */
const withFolder = (reading: Reading, folder: Resource): Reading => ({
  ...reading,
  async find(names) {
    const found = await reading.find(names)
    if (!found || names.length > 0) return found
    return { ...found, changeStamp: stampOf([found.changeStamp, folder.changeStamp]) }
  },
  async *pages(top, names, size) {
    yield* reading.pages(top, names, size)
    if (names.length === 0) yield [folder]
  },
})

/**
 * A path in the files of a person: their own drive, and in its root a folder with what was shared
 * with them, if there is anything.
 */
async function placeInFiles(
  services: Services,
  asker: Asker,
  segments: readonly string[],
): Promise<Place> {
  const [first, ...rest] = segments
  const own = inOwnDrive(services, asker, segments, [])
  if (first !== undefined && first !== SHARED_NAME) return own
  // The person may have a folder of this name, which comes first.
  if ((await own.reading.find([SHARED_NAME])) !== null) return own
  if (first === undefined) {
    const shares = (await placeOf(services, asker, ['shared'])) as Virtual
    if (shares.children.length === 0) return own
    return { ...own, reading: withFolder(own.reading, sharedFolder(shares, asker.caller)) }
  }
  const shared = await placeOf(services, asker, ['shared', ...rest])
  if (shared.reading) return { ...shared, base: [SHARED_NAME, ...shared.base.slice(1)] }
  const resource = sharedFolder(shared, asker.caller)
  return { ...shared, names: [SHARED_NAME], title: SHARED_NAME, resource }
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
  }
}
