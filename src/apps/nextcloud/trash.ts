import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import type { DavDeps } from '../../dav/dav.ts'
import { DavError } from '../../dav/refusal.ts'
import { escapeXml, NEXTCLOUD } from '../../dav/xml.ts'
import type { Passage } from '../../http/threshold.ts'
import type { Services } from '../../services/index.ts'
import { type TrashItemView, trashItemNotFound } from '../../services/tree/trash-item.ts'
import { MAX_PAGE } from '../../values/limits.ts'
import { type Collection, collectionPassages, destinationIn } from './collection.ts'

/** The number of items that a listing shows: the newest ones. Apps read no pages. */
const MAX_LISTED = 5000

/** The name of an item: unique, and as apps expect it to begin. */
const nameOf = ({ id, names }: TrashItemView): string => `${names.at(-1)}.d${id}`

/** @throws TRASH_ITEM_NOT_FOUND */
function idOf(name: string): string {
  const [, id] = /\.d([0-9a-f-]{36})$/.exec(name) ?? []
  if (id === undefined) throw trashItemNotFound(name)
  return id
}

async function itemsOf({ trashItems }: Services, caller: Caller): Promise<TrashItemView[]> {
  const { tree } = Drive.own(caller).open('read')
  const items: TrashItemView[] = []
  for (let after: string | null = null; items.length < MAX_LISTED; ) {
    const page = await trashItems.page(tree.bucketId, MAX_PAGE, after)
    items.push(...page.rows)
    if (!page.more) break
    after = page.last ?? page.rows.at(-1)?.id ?? null
  }
  return items
}

/** The trash of the caller's own drive, as a collection of the apps. */
const trash: Collection = {
  route: '/remote.php/dav/trashbin',
  async list(services, caller, [top, name, ...more]) {
    if (top !== 'trash' || more.length > 0) return null
    const items = await itemsOf(services, caller)
    const shown = name === undefined ? items : items.filter(item => nameOf(item) === name)
    if (name !== undefined && shown.length === 0) return null
    return shown.map(item => ({
      name: nameOf(item),
      title: item.names.at(-1) ?? '',
      createdAt: 0,
      resource: {
        id: item.id,
        kind: item.kind,
        name: nameOf(item),
        contentType: item.fileType,
        size: item.bytes,
        createdAt: item.deletedAt,
        updatedAt: item.deletedAt,
        modifiedAt: item.deletedAt,
        revision: 1,
        contentRevision: 1,
        changeStamp: item.deletedAt,
        letters: 'GD',
      },
      extra: new Map([
        [`${NEXTCLOUD}\ntrashbin-filename`, escapeXml(item.names.at(-1) ?? '')],
        [`${NEXTCLOUD}\ntrashbin-original-location`, escapeXml(item.names.join('/'))],
        [`${NEXTCLOUD}\ntrashbin-deletion-time`, String(Math.floor(item.deletedAt / 1000))],
      ]),
    }))
  },
}

/** The passages of the trash: list, restore one, delete one, delete all. */
export function trashPassages(deps: DavDeps): Map<string, Passage> {
  const { trashItems } = deps.services
  return collectionPassages(deps, trash, {
    /** Restores an item to its former place, beside what is there now. */
    async MOVE(incoming, caller, names) {
      const [top, name, ...more] = names
      if (top !== 'trash' || name === undefined || more.length > 0)
        throw new DavError(403, 'Only an item of the trash can be restored.')
      destinationIn(incoming, deps, trash.route)
      const { drive, tree, limits } = Drive.own(caller).open('write')
      const how = { to: null, onConflict: drive.onConflict('keep_both'), limits }
      await trashItems.restore(tree, [idOf(name)], how, caller)
      return 201
    },
    async DELETE(_incoming, caller, [top, name, ...more]) {
      if (top !== 'trash' || more.length > 0)
        throw new DavError(403, 'Only an item of the trash, or all of it, can be deleted.')
      const { tree } = Drive.own(caller).open('delete')
      if (name === undefined) await trashItems.empty(tree, caller)
      else await trashItems.deleteForEver(tree, [idOf(name)], caller)
      return 204
    },
  })
}
