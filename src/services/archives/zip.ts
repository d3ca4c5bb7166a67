import { stringify } from 'uuid'
import { noteChecksums } from '../../../db/queries/archive.ts'
import { AppError, Busy, InvalidInput } from '../../runtime/errors.ts'
import { createFairQueue } from '../../runtime/fair-queue.ts'
import { MAX_ZIPPED, MAX_ZIPS_OF_ADDRESS, MAX_ZIPS_OF_DRIVE } from '../../values/limits.ts'
import { deliveryOf } from '../../values/media.ts'
import { networkOf } from '../../values/network.ts'
import { parsePath } from '../../values/paths.ts'
import type { Tree } from '../../values/tree.ts'
import type { Core } from '../core.ts'
import type { Delivery, Download, Grant } from '../sharing/download.ts'
import { locateEntries } from '../tree/entry-location.ts'
import type { EntryName } from '../tree/entry-path.ts'
import { digestOf, zipEntries } from './zip-entry.ts'
import { zipLayout } from './zip-layout.ts'
import { openZip } from './zip-stream.ts'

/** The source of an archive: entries of a tree. */
interface Archived {
  tree: Pick<Tree, 'bucketId' | 'rootId'>
  /** The name of the folder for the contents of the tree's root, if any. */
  top: string
  /** The archive's name, if it differs from the entry or the folder above. */
  called?: string | undefined
  /** The packed ids of the entries; see `packIds`. */
  ids: string
}

/** The names of an archive and of the entries at its top. */
export interface ArchiveNaming extends Pick<Archived, 'top' | 'called'> {
  /** Names that replace those of some entries, by their ids. */
  names?: ReadonlyMap<string, string> | undefined
}

/** The content of an archive's URL. */
export interface SealedZip extends Archived {
  etag: string
  described: boolean
  grant?: Grant
}

interface Options extends Core<'coordination' | 'db' | 'store' | 'tokens' | 'publicUrl' | 'log'> {
  signedUrlSeconds: number
}

const PURPOSE = 'archive'
/** The name of an archive whose entries share no folder. */
const NO_FOLDER = 'Files'
const busy = () =>
  new Busy('Too many archives are being prepared at the moment. Try again in a few seconds.')

/** The number of checksums that one statement records while an archive is sent. */
const NOTED_AT_ONCE = 100

/** ZIP archives of entries, built while they are sent and never stored. Does not authorize. */
export function zipService({
  coordination,
  db,
  store,
  tokens,
  publicUrl,
  signedUrlSeconds: seconds,
  log,
}: Options) {
  // Reading the contents of large folders costs the database as much as a hundred lists.
  const readings = createFairQueue({
    atOnce: 2,
    longest: 100,
    longestPerKey: 10,
    patience: 20_000,
    full: busy,
  })

  /** Records checksums found while bytes are sent, so that the next archive has them. */
  function noteOf() {
    let sums = new Map<string, string>()
    const write = () => {
      const some = sums
      sums = new Map()
      if (some.size > 0)
        noteChecksums(db, some).catch(error =>
          log.warn({ err: error }, 'could not store checksums of blobs'),
        )
    }
    const note = (blobId: string, sum: string) => {
      sums.set(blobId, sum)
      if (sums.size >= NOTED_AT_ONCE) write()
    }
    return { note, write }
  }

  /**
   * The entries of a tree with their names in the archive, and the archive's name.
   * @throws FILE_NOT_FOUND, INVALID_INPUT, INVALID_PATH
   */
  async function rootsOf(
    tree: Tree,
    named: readonly EntryName[],
    { top, called, names: given }: ArchiveNaming,
  ) {
    const isRoot = (one: EntryName) =>
      'id' in one ? one.id === tree.rootId : parsePath(one.path, 'entries').length === 0
    if (named.some(isRoot)) {
      if (named.length > 1)
        throw new InvalidInput(
          'entries',
          'The root contains all other entries. Name only the root, or the others without it.',
        )
      return { roots: [{ id: tree.rootId, name: top }], name: top || NO_FOLDER }
    }
    const found = await locateEntries(db, tree, named, undefined, { most: MAX_ZIPPED })
    const [first] = found
    const all = found.map(({ node: { id }, names }) => ({
      id,
      name: given?.get(id) ?? names.at(-1) ?? '',
    }))
    // Given names are distinct already, and take precedence over names that can be changed.
    const roots = [
      ...all.filter(({ id }) => given?.has(id)),
      ...all.filter(({ id }) => !given?.has(id)),
    ]
    if (found.length === 1) return { roots, name: roots[0]?.name ?? NO_FOLDER }
    if (called !== undefined) return { roots, name: called }
    const inOne = found.every(({ parentId }) => parentId === first?.parentId)
    return { roots, name: (inOne && first?.names.at(-2)) || top || NO_FOLDER }
  }

  /**
   * @param pinned the earlier layout, so that the bytes are the same; by default, checksums follow
   * files only if some are unknown
   */
  async function make(
    { tree, named, ...naming }: ArchiveNaming & { tree: Tree; named: readonly EntryName[] },
    pinned?: boolean,
  ): Promise<{ delivery: Delivery; described: boolean; ids: string[] }> {
    const { bucketId } = tree
    const { entries, name, ids } = await readings.run([bucketId], async () => {
      const { roots, name } = await rootsOf(tree, named, naming)
      return { entries: await zipEntries(db, roots), name, ids: roots.map(({ id }) => id) }
    })
    const described =
      pinned ?? entries.some(({ blobId, crc32 }) => blobId !== null && crc32 === null)
    const layout = zipLayout(entries, described)
    const fileName = `${name}.zip`
    const delivery: Delivery = {
      fileName,
      size: layout.size,
      etag: digestOf(entries, described),
      ...deliveryOf(fileName, 'application/zip', 'download'),
      async hold(address) {
        const release = await coordination.hold(1, [
          [`archives of ${networkOf(address)}`, MAX_ZIPS_OF_ADDRESS],
          [`archives of drive ${bucketId}`, MAX_ZIPS_OF_DRIVE],
        ])
        if (!release)
          throw new Busy(
            'Too many archives are being downloaded at the moment. Wait until one of them ends, then try again.',
          )
        return release
      },
      async read(range, signal) {
        const { note, write } = noteOf()
        return openZip({ store, layout, range, signal, onChecksum: note, onEnd: write })
      },
    }
    return { delivery, described, ids }
  }

  return {
    /**
     * Creates a signed URL for an archive of the current entries, and returns the archive's size.
     * @param named 1 to 200 entries, or the root alone
     * @param top the name of the folder for the contents of the root; none by default
     * @param called the archive's name, if the folder above several entries must stay hidden
     * @param names replacement names of entries; `open` needs them again
     * @param grant the share that grants access, if the caller is not the owner
     * @throws FILE_NOT_FOUND, INVALID_PATH, INVALID_INPUT also for too many entries, UNAVAILABLE
     */
    async link(
      { bucketId, rootId, ...tree }: Tree,
      named: readonly EntryName[],
      { top = '', called, names, grant }: Partial<ArchiveNaming> & { grant?: Grant } = {},
    ): Promise<Download> {
      const { delivery, described, ids } = await make({
        tree: { ...tree, bucketId, rootId },
        named,
        top,
        called,
        names,
      })
      const archived: Archived = { tree: { bucketId, rootId }, top, called, ids: packIds(ids) }
      const sealed: SealedZip = {
        ...archived,
        etag: delivery.etag,
        described,
        ...(grant ? { grant } : {}),
      }
      return {
        url: `${publicUrl()}/api/blobs/${tokens.seal(PURPOSE, sealed, seconds)}`,
        fileName: delivery.fileName,
        expiresAt: Date.now() + seconds * 1000,
        delivery,
      }
    },

    /**
     * The content of an archive's URL. Null for another token.
     * @throws TOKEN_NOT_FOUND after it has expired
     */
    unseal(token: string): SealedZip | null {
      const sealed = tokens.unseal(PURPOSE, token)
      if (sealed?.expired) throw ended('This download link is no longer valid. Request a new one.')
      return sealed && (sealed.payload as SealedZip)
    },

    /** The ids of the entries in a URL. */
    idsOf: ({ ids }: SealedZip): string[] => unpackIds(ids),

    /**
     * The archive of a URL.
     * @throws TOKEN_NOT_FOUND if its files have changed; UNAVAILABLE
     */
    async open(
      { tree, top, called, ids, etag, described }: SealedZip,
      names?: ArchiveNaming['names'],
    ): Promise<Delivery> {
      const named = unpackIds(ids).map(id => ({ id }))
      const made = await make({ tree, named, top, called, names }, described).catch(error => {
        throw error instanceof AppError && error.status < 500 ? changed() : error
      })
      if (made.delivery.etag !== etag) throw changed()
      return made.delivery
    },
  }
}

/** Encodes UUIDs in 22 characters each, because the URL contains them. */
const packIds = (ids: string[]): string =>
  Buffer.from(ids.join('').replaceAll('-', ''), 'hex').toString('base64url')
function unpackIds(packed: string): string[] {
  const bytes = Buffer.from(packed, 'base64url')
  return Array.from({ length: bytes.length / 16 }, (_, i) => stringify(bytes, 16 * i))
}

const ended = (message: string) => new AppError('TOKEN_NOT_FOUND', message)
const changed = () =>
  ended('The files have changed since this download link was made. Request a new one.')

export type ZipService = ReturnType<typeof zipService>
