import { FILE } from '../../../db/models/entry.ts'
import { modifiedAtOf } from '../../../db/queries/version.ts'
import type { Caller } from '../../access/caller.ts'
import type { Drive } from '../../access/drive.ts'
import type { DavDeps } from '../../dav/dav.ts'
import { DavError } from '../../dav/refusal.ts'
import { sendBytes } from '../../http/bytes.ts'
import type { Passage } from '../../http/threshold.ts'
import type { Services } from '../../services/index.ts'
import type { PlacedEntry } from '../../services/tree/entry-list.ts'
import { versionNotFound } from '../../services/tree/version.ts'
import { MAX_PAGE } from '../../values/limits.ts'
import { type Collection, collectionPassages, destinationIn } from './collection.ts'
import { fileByNumber } from './drives.ts'

/** A version in a URL: the number of its file, and its id. */
interface Target {
  drive: Drive
  file: PlacedEntry
  id: string
}

/** @throws DavError 404 */
async function fileOf(
  services: Services,
  caller: Caller,
  [top, number = '']: readonly string[],
): Promise<Omit<Target, 'id'>> {
  const found = top === 'versions' ? await fileByNumber(services, caller, number) : null
  if (!found) throw new DavError(404, 'There is no file with this number in your files.')
  return found
}

async function targetOf(
  services: Services,
  caller: Caller,
  names: readonly string[],
): Promise<Target> {
  const [, , id = '', ...more] = names
  if (more.length > 0) throw versionNotFound(id)
  return { ...(await fileOf(services, caller, names)), id }
}

/** The versions of a file, as a collection of the apps. */
const versions: Collection = {
  route: '/remote.php/dav/versions',
  async list(services, caller, names) {
    if (names.length > 2) return null
    const { file } = await fileOf(services, caller, names)
    const page = (await services.versions.pagesOf([file.id], MAX_PAGE, null)).get(file.id)
    return (page?.rows ?? []).map(version => ({
      name: version.id,
      title: file.name,
      createdAt: version.createdAt,
      resource: {
        id: version.id,
        kind: FILE,
        name: version.id,
        contentType: version.fileType,
        size: version.size,
        createdAt: version.createdAt,
        updatedAt: version.replacedAt,
        modifiedAt: modifiedAtOf(version),
        revision: 1,
        contentRevision: 1,
        changeStamp: null,
        md5: version.md5,
      },
    }))
  },
}

/** The passages of versions: list, read one, restore one. */
export function versionPassages(deps: DavDeps): Map<string, Passage> {
  const { services } = deps
  const collection = collectionPassages(deps, versions, {
    async GET(incoming, caller, names) {
      const { drive, file, id } = await targetOf(services, caller, names)
      const { version } = await services.versions.find(drive.open('read').tree, id)
      if (version.entryId !== file.id) throw versionNotFound(id)
      const delivery = services.downloads.delivery({ ...version, name: file.name }, 'download')
      const { req, res, address, signal } = incoming
      await sendBytes({ req, res, address, signal }, delivery)
      return null
    },
    async MOVE(incoming, caller, names) {
      const { drive, file, id } = await targetOf(services, caller, names)
      destinationIn(incoming, deps, versions.route)
      const { tree, limits } = drive.open('write')
      const { version } = await services.versions.find(tree, id)
      if (version.entryId !== file.id) throw versionNotFound(id)
      await services.versions.restore(tree, id, { limits, expected: undefined }, caller)
      return 201
    },
  })
  return collection
}
