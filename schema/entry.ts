import { FILE, FOLDER } from '../db/models/entry.ts'
import type { Context } from '../src/context.ts'
import type { EntryRow } from '../src/services/listing.ts'
import { batchPages, byName, type ConnectionArgs, forwardConnection } from './connection.ts'

/** A folder of any tree, with the names that lead to it from the root. */
interface Parent {
  id: string
  names: string[]
}

function childConnection(kind: typeof FILE | typeof FOLDER) {
  const pageOf = batchPages<EntryRow>(({ services }, folderIds, limit, after) =>
    services.listings.childrenOf(folderIds, kind, limit, after?.[0] ?? null),
  )
  /** @param inherited what a child has in common with its folder */
  return <P extends object>(context: Context, folder: Parent, args: ConnectionArgs, inherited: P) =>
    forwardConnection(args, byName, async (limit, after) => {
      const { rows, more } = await pageOf(context, folder.id, limit, after)
      return { more, rows: rows.map(row => ({ ...row, ...inherited, names: [...folder.names, row.name] })) }
    })
}

/** The folders in a folder, by name. Call it for a folder that the caller may look into. */
export const foldersIn = childConnection(FOLDER)

/** The files in a folder, by name. Call it for a folder that the caller may look into. */
export const filesIn = childConnection(FILE)
