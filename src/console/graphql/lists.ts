import type { Cache, UpdateResolver } from '@urql/exchange-graphcache'

interface Listed {
  __typename: string
  id: string
  name: string
  size: number
  createdAt: string
  updatedAt: string
}

interface Order {
  field?: keyof typeof keyOf
  direction?: 'ASC' | 'DESC'
}

const keyOf = {
  NAME: 'name',
  SIZE: 'size',
  CREATED_AT: 'createdAt',
  UPDATED_AT: 'updatedAt',
} as const

/**
 * Sorts entries like the service: by name with folders first, or by a number or time and then by
 * id.
 */
function comparing({ field = 'NAME', direction = 'ASC' }: Order) {
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0)
  const kind = ({ __typename }: Listed) => (__typename === 'Folder' ? 0 : 1)
  const sign = direction === 'ASC' ? 1 : -1
  return (a: Listed, b: Listed): number => {
    const key = keyOf[field]
    const byKind = field === 'NAME' ? compare(kind(a), kind(b)) : 0
    return sign * (byKind || compare(a[key], b[key]) || compare(a.id, b.id))
  }
}

/** Inserts a new entry into the cached lists of its folder, in sort order. */
export function addToLists(cache: Cache, folderId: string, entry: Listed): void {
  const folder = `Folder:${folderId}`
  for (const { fieldName, fieldKey, arguments: given } of cache.inspectFields(folder)) {
    // The client cannot know whether the entry matches a filter or belongs on a later page.
    if (fieldName !== 'entries' || given?.filter || given?.after) continue
    const list = cache.resolve(folder, fieldKey)
    const nodes = typeof list === 'string' ? cache.resolve(list, 'nodes') : null
    if (typeof list !== 'string' || !Array.isArray(nodes)) continue
    const read = (key: unknown): Listed => {
      const field = (name: keyof Listed) => cache.resolve(key as string, name)
      const [__typename, id, name] = [field('__typename'), field('id'), field('name')]
      return {
        __typename,
        id,
        name,
        size: field('size'),
        createdAt: field('createdAt'),
        updatedAt: field('updatedAt'),
      } as Listed
    }
    const listed = nodes.map(read)
    if (listed.some(({ id }) => id === entry.id)) continue
    const compare = comparing((given?.orderBy ?? {}) as Order)
    const at = listed.findIndex(other => compare(entry, other) < 0)
    const pageInfo = cache.resolve(list, 'pageInfo')
    const goesOn = typeof pageInfo === 'string' && cache.resolve(pageInfo, 'hasNextPage') === true
    // The entry belongs on a later page.
    if (at < 0 && goesOn) continue
    const place = at < 0 ? nodes.length : at
    cache.link(list, 'nodes', [
      ...nodes.slice(0, place),
      `${entry.__typename}:${entry.id}`,
      ...nodes.slice(place),
    ])
  }
}

type Payload = Record<string, { parent?: { id: string } | null } | undefined> | null

/**
 * For mutations that create an entry.
 *
 * @param field of the payload that contains the entry, with its parent
 */
const addsEntry =
  (mutation: string, field: string): UpdateResolver =>
  (result, _args, cache) => {
    const entry = (result[mutation] as Payload)?.[field]
    if (entry?.parent) addToLists(cache, entry.parent.id, entry as unknown as Listed)
  }

interface Completing {
  uploadSession: {
    completion?: { file?: (Listed & { parent?: { id: string } | null }) | null } | null
  }
}

/** Adds the new file when an upload completes within its request. */
const addsUploaded: UpdateResolver = ({ beginCompletion }, _args, cache) => {
  const file = (beginCompletion as Completing | null)?.uploadSession.completion?.file
  if (file?.parent) addToLists(cache, file.parent.id, file)
}

/** Removes deleted items from the cached lists of a field. */
function takeFromLists(
  cache: Cache,
  owner: string,
  field: string,
  isGone: (id: string) => boolean,
): void {
  for (const { fieldName, fieldKey } of cache.inspectFields(owner)) {
    const list = fieldName === field ? cache.resolve(owner, fieldKey) : null
    const nodes = typeof list === 'string' ? cache.resolve(list, 'nodes') : null
    if (typeof list !== 'string' || !Array.isArray(nodes)) continue
    const left = (nodes as string[]).filter(key => !isGone(key.slice(key.indexOf(':') + 1)))
    if (left.length < nodes.length) cache.link(list, 'nodes', left)
  }
}

interface Removal {
  deletedIds?: string[]
  removedIds?: string[]
  folders?: { id: string }[] | null
  drive?: { id: string }
}

const removesEntries: UpdateResolver = (result, args, cache, info) => {
  changesShared(result, args, cache, info)
  const { deleteEntries } = result
  const { deletedIds = [], folders, drive } = (deleteEntries ?? {}) as Removal
  const gone = new Set(deletedIds)
  for (const { id } of folders ?? [])
    takeFromLists(cache, `Folder:${id}`, 'entries', id => gone.has(id))
  if (drive) takeFromLists(cache, `Drive:${drive.id}`, 'search', id => gone.has(id))
}

/** For mutations that remove items from the trash of a drive: the given items, or all. */
const emptiesTrash =
  (mutation: string): UpdateResolver =>
  (result, _args, cache) => {
    const { removedIds, deletedIds, drive } = (result[mutation] ?? {}) as Removal
    const ids = removedIds ?? deletedIds
    const gone = ids && new Set(ids)
    if (drive) takeFromLists(cache, `Drive:${drive.id}`, 'trash', id => !gone || gone.has(id))
  }

/** A deleted version may be on a page that the payload does not contain. */
const removesVersion: UpdateResolver = ({ deleteVersion }, _args, cache) => {
  const { deletedId, file } = (deleteVersion ?? {}) as { deletedId?: string; file?: { id: string } }
  if (file) takeFromLists(cache, `File:${file.id}`, 'versions', id => id === deletedId)
}

/** Invalidates lists of the signed-in person, so that screens refetch them. */
const forgets =
  (...lists: string[]): UpdateResolver =>
  (_result, _args, cache) => {
    const me = cache.resolve('Query', 'me') as string | null | undefined
    if (!me) return
    for (const { fieldName, arguments: given } of cache.inspectFields(me))
      if (lists.includes(fieldName)) cache.invalidate(me, fieldName, given)
  }

/**
 * Removes moved or deleted entries from the cached lists of a share. The screen then refetches the
 * lists.
 */
const changesShared: UpdateResolver = (_result, args, cache, { variables }) => {
  const { entries = [], name } = args.input as {
    entries?: { at?: { path: string } }[]
    name?: string
  }
  if (!variables.isShared || name) return
  const gone = new Set(entries.map(({ at }) => at?.path))
  for (const { fieldName, fieldKey } of cache.inspectFields('Query')) {
    const list = fieldName === 'sharedFolder' ? cache.resolve('Query', fieldKey) : null
    const lines = typeof list === 'string' ? cache.resolve(list, 'entries') : null
    if (typeof list !== 'string' || !Array.isArray(lines)) continue
    const left = (lines as string[]).filter(key => !gone.has(String(cache.resolve(key, 'path'))))
    if (left.length < lines.length) cache.link(list, 'entries', left)
  }
}

interface SharesChange {
  entry?: unknown
  /** All entries of the share. */
  entries?: unknown[] | null
  shares?: { entry?: unknown }[]
  revokedId?: string
}

const forgetsShares = forgets('shares', 'shareRecipients', 'accessOf')

/** For share mutations: refetches the activity of the shared entries and the person's shares. */
const changesShares =
  (mutation: string): UpdateResolver =>
  (result, args, cache, info) => {
    forgetsShares(result, args, cache, info)
    const made = (result[mutation] ?? {}) as SharesChange
    const { entry, entries, shares = [], revokedId } = made
    const listed = [entry, ...shares.map(share => share.entry)].map(one =>
      cache.keyOfEntity(one as never),
    )
    const all = (entries ?? []).map(one => cache.keyOfEntity(one as never))
    for (const key of new Set([...listed, ...all])) {
      // The payload contains the first page only, and the share may be on a later one.
      if (key && revokedId) takeFromLists(cache, key, 'shares', id => id === revokedId)
      // When a new share has several entries, the payload contains the lists of only one.
      const isLeft = !revokedId && !listed.includes(key)
      for (const { fieldName, arguments: given } of key ? cache.inspectFields(key) : [])
        if (fieldName === 'events' || (isLeft && fieldName === 'shares'))
          cache.invalidate(key, fieldName, given)
    }
  }

/** Cache updates by mutations, for lists that would be expensive to refetch. */
export const listUpdates = {
  uploadFile: addsEntry('uploadFile', 'file'),
  beginCompletion: addsUploaded,
  createFolder: addsEntry('createFolder', 'folder'),
  deleteEntries: removesEntries,
  moveEntries: changesShared,
  deleteVersion: removesVersion,
  restoreFromTrash: emptiesTrash('restoreFromTrash'),
  deleteFromTrash: emptiesTrash('deleteFromTrash'),
  emptyTrash: emptiesTrash('emptyTrash'),
  createLink: changesShares('createLink'),
  createDirectShare: changesShares('createDirectShare'),
  updateShare: changesShares('updateShare'),
  revokeShare: changesShares('revokeShare'),
  revokeShares: forgetsShares,
  endAccess: forgets('shares', 'shareRecipients'),
}

/** Cache updates by events. */
export const liveUpdates = {
  shareReceived: forgets('receivedShares', 'unseenShareCount'),
}
