import { z } from 'zod'
import { FILE } from '../../../db/models/entry.ts'
import { recentEntries } from '../../../schema/visible.ts'
import { Drive } from '../../access/drive.ts'
import { searchScope } from '../../access/search-scope.ts'
import { AppError, InvalidInput } from '../../runtime/errors.ts'
import { readCursor, writeCursor } from '../../services/page.ts'
import { MAX_SEARCH } from '../../values/limits.ts'
import { joinPath } from '../../values/paths.ts'
import { searchOrders } from '../../values/search-order.ts'
import {
  driveId,
  entryOutput,
  entryShape,
  locate,
  locateFile,
  locateFolder,
  reference,
  shown,
} from '../entries.ts'
import { type Call, NOTICE, notice, tool } from '../tool.ts'

const MOST_RESULTS = 50
const MOST_LISTED = 200
const MOST_RECENT = 50
/** Characters of a text in one result. */
const MOST_TEXT = 50_000
const USUAL_TEXT = 20_000
const MAX_CURSOR = 1000
/** The size of a picture in one result, in bytes. */
const MOST_PICTURE = 1024 * 1024
/** How long a preview that does not exist yet is awaited, in milliseconds. */
const PREVIEW_MS = 8000
const PREVIEW_STEP_MS = 250

const cursor = z.string().max(MAX_CURSOR).optional().describe('The next_cursor of the last page.')
const nextCursor = z.string().nullable().describe('The cursor of the next page; null on the last.')

const search = tool({
  name: 'search',
  title: 'Search files',
  description:
    'Searches names, paths, tags and contents of the files and folders that the person may see. All words must match. "a phrase", -without, type:pdf, size:>10mb, before:2026, after:2026-03, in:"Folder/Sub" and tag:x narrow the search down.',
  level: 'read',
  input: z.object({
    query: z.string().min(1).max(MAX_SEARCH).describe('What to search for.'),
    drive: driveId.optional().describe('Only in this drive, by its id from list_drives.'),
    order: z.enum(searchOrders).default('relevance').describe('The order of the results.'),
    limit: z.int().min(1).max(MOST_RESULTS).default(20).describe('The number of results.'),
    cursor,
  }),
  output: z.object({
    notice,
    results: z.array(
      entryOutput.omit({ drive: true }).extend({
        drive: z.string().nullable().describe('The id of its drive; null for a share of others.'),
        snippet: z.string().nullable().describe('The part of its text with the words.'),
      }),
    ),
    is_complete: z.boolean().describe('Whether everything was searched that may match.'),
    next_cursor: nextCursor,
  }),
  async run({ context, caller }, { query, drive, order, limit, cursor: after }) {
    const { services } = context
    await services.rateLimits.hit('searches', caller.userId, {})
    const { scope, driveOf } = await searchScope(services, caller, drive ? [drive] : null)
    const found = await services.searches.list({
      text: query,
      scope,
      callerId: caller.userId,
      limit,
      cursor: after,
      order,
    })
    const results = found.results.map(({ row, names, share, snippet }) => {
      const of = share ? undefined : driveOf(row.bucketId)
      return {
        id: row.id,
        kind: row.kind === FILE ? ('file' as const) : ('folder' as const),
        name: row.name,
        path: of?.pathOf(names) ?? joinPath(names),
        drive: of?.id ?? null,
        size: row.size,
        content_type: row.kind === FILE ? row.contentType : null,
        modified_at: new Date(row.modifiedAt).toISOString(),
        revision: row.revision,
        snippet: snippet?.text ?? null,
      }
    })
    const { isComplete, nextCursor: next } = found
    return { value: { notice: NOTICE, results, is_complete: isComplete, next_cursor: next } }
  },
})

const listDrives = tool({
  name: 'list_drives',
  title: 'List drives',
  description: 'Lists the drives that can be read: the own drive, and those of workspaces.',
  level: 'read',
  input: z.object({}),
  output: z.object({
    notice,
    drives: z.array(
      z.object({
        id: z.string(),
        name: z.string().nullable().describe('The name of the workspace; null for the own drive.'),
        permissions: z.array(z.string()),
      }),
    ),
  }),
  async run({ context: { services }, caller }) {
    const workspaces = await services.workspaces.list(caller)
    const trees = await services.drives.workspaceTreesOf(
      caller,
      'w.id',
      workspaces.map(({ id }) => id),
    )
    const all = [Drive.own(caller), ...trees.map(tree => Drive.ofWorkspace(caller, tree))]
    const drives = all
      .filter(drive => !drive.refusal('read'))
      .map(drive => ({
        id: drive.id,
        name: drive.workspace?.name ?? null,
        permissions: drive.permissions,
      }))
    return { value: { notice: NOTICE, drives } }
  },
})

const listFolder = tool({
  name: 'list_folder',
  title: 'List a folder',
  description:
    'Lists the files and folders in a folder, folders first. Without an id or a path, lists the root of the drive.',
  level: 'read',
  input: z.object({
    ...reference,
    limit: z.int().min(1).max(MOST_LISTED).default(50).describe('The number of entries.'),
    cursor,
  }),
  output: z.object({
    notice,
    folder: entryOutput,
    entries: z.array(entryOutput),
    next_cursor: nextCursor,
  }),
  async run(call, { limit, cursor: after, ...given }) {
    const { entryLists } = call.context.services
    const { entry: folder, drive } = await locateFolder(call, given, 'read')
    const query = {
      sort: 'name' as const,
      descending: false,
      kind: null,
      nameContains: null,
      tagIds: [],
    }
    const key = readCursor(after, ['number', 'string'])
    const pages = await entryLists.childrenOf([folder.id], query, limit, key)
    const { rows, more } = pages.get(folder.id) ?? { rows: [], more: false }
    const last = rows.at(-1)
    const entries = rows.map(row => shown(row, drive, [...folder.names, row.name]))
    return {
      value: {
        notice: NOTICE,
        folder: shown(folder, drive, folder.names),
        entries,
        next_cursor: more && last ? writeCursor([...entryLists.keyOf(query, last)]) : null,
      },
      entryId: folder.id,
    }
  },
})

const fileDetails = tool({
  name: 'file_details',
  title: 'Details of a file or folder',
  description: 'Returns the details of a file or folder: place, size, times, checksum, tags.',
  level: 'read',
  input: z.object(reference),
  output: z.object({
    notice,
    ...entryShape,
    md5: z.string().nullable().describe('MD5 of the bytes of a file, in hex.'),
    file_count: z.number().describe('The number of files below a folder; 1 for a file.'),
    created_at: z.string(),
    updated_at: z.string(),
    has_text: z.boolean().describe('Whether read_text may return a text.'),
    has_preview: z.boolean().describe('Whether preview may return a picture.'),
  }),
  async run(call, given) {
    const { entry, drive } = await locate(call, given, 'read')
    const { contents, previews } = call.context.services
    const isFile = entry.kind === FILE
    const { blobId, contentType: fileType, size, name } = entry
    return {
      value: {
        notice: NOTICE,
        ...shown(entry, drive, entry.names),
        md5: isFile ? entry.md5 : null,
        file_count: entry.fileCount,
        created_at: new Date(entry.createdAt).toISOString(),
        updated_at: new Date(entry.updatedAt).toISOString(),
        has_text: isFile && contents.hasText({ name, fileType, size }),
        has_preview: blobId !== null && previews.isFor({ fileType, size }),
      },
      entryId: entry.id,
    }
  },
})

/** Moves an index that lies within a surrogate pair behind the pair. */
const between = (text: string, index: number): number =>
  /[\uDC00-\uDFFF]/.test(text.charAt(index)) && /[\uD800-\uDBFF]/.test(text.charAt(index - 1))
    ? index + 1
    : index

const readText = tool({
  name: 'read_text',
  title: 'Read the text of a file',
  description:
    'Returns the text of a file: of plain text, PDF, e-mail, HTML, and office documents. Long texts are read in parts, by offset.',
  level: 'read',
  input: z.object({
    ...reference,
    offset: z.int().min(0).default(0).describe('The first character to return.'),
    limit: z.int().min(1).max(MOST_TEXT).default(USUAL_TEXT).describe('The number of characters.'),
  }),
  output: z.object({
    notice,
    ...entryShape,
    offset: z.number(),
    total: z.number().describe('The number of characters of the whole text.'),
    next_offset: z.number().nullable().describe('Where the next part begins; null at the end.'),
    text: z.string(),
  }),
  async run(call, { offset, limit, ...given }) {
    const { entry, drive } = await locateFile(call, given, 'read')
    const { blobId, contentType: fileType, size, name } = entry
    const { contents } = call.context.services
    const whole = await contents.textOf(
      { blobId: blobId ?? '', name, fileType, size },
      call.context.signal,
    )
    const start = between(whole, Math.min(offset, whole.length))
    const end = between(whole, Math.min(start + limit, whole.length))
    const text = whole.slice(start, end)
    return {
      value: {
        notice: NOTICE,
        ...shown(entry, drive, entry.names),
        offset: start,
        total: whole.length,
        next_offset: end < whole.length ? end : null,
        text,
      },
      text,
      entryId: entry.id,
    }
  },
})

/** The bytes of a large preview, which may have to be made first. */
async function previewBytes(
  { context: { services, signal } }: Call,
  file: { blobId: string; fileType: string; size: number; name: string },
): Promise<Buffer> {
  const until = Date.now() + PREVIEW_MS
  for (;;) {
    const found = await services.previews.open(file, { size: 'large', version: null })
    if (found && found.size > MOST_PICTURE)
      throw new AppError('FILE_TOO_LARGE', 'The preview of this file is too large.', {})
    if (found) {
      const chunks: Uint8Array[] = []
      for await (const chunk of await found.read(undefined, signal)) chunks.push(chunk)
      return Buffer.concat(chunks)
    }
    const [state] = await services.previews.ofFiles([file]).then(views => [...views.values()])
    if (state?.state === 'failed' || Date.now() > until || signal.aborted)
      throw new AppError(
        'FILE_NOT_FOUND',
        state?.state === 'failed'
          ? 'This file has no preview: it cannot be read.'
          : 'The preview is not ready yet. Try again in a few seconds.',
      )
    await new Promise(resolve => setTimeout(resolve, PREVIEW_STEP_MS))
  }
}

const preview = tool({
  name: 'preview',
  title: 'See a picture',
  description:
    'Returns a picture of a file with at most 1,280 pixels on its longest side: of a photo, of the first page of a PDF document, or of a video.',
  level: 'read',
  input: z.object(reference),
  output: z.object({ notice, ...entryShape }),
  async run(call, given) {
    const { entry, drive } = await locateFile(call, given, 'read')
    const { blobId, contentType: fileType, size, name } = entry
    if (blobId === null || !call.context.services.previews.isFor({ fileType, size }))
      throw new InvalidInput('id', 'Files of this kind or size have no preview.')
    const bytes = await previewBytes(call, { blobId, fileType, size, name })
    return {
      value: { notice: NOTICE, ...shown(entry, drive, entry.names) },
      image: { data: bytes.toString('base64'), mimeType: 'image/webp' },
      entryId: entry.id,
    }
  },
})

const recent = tool({
  name: 'recent',
  title: 'Recent files',
  description: 'Lists the files and folders that the person has worked on recently, newest first.',
  level: 'read',
  input: z.object({
    limit: z.int().min(1).max(MOST_RECENT).default(20).describe('The number of entries.'),
  }),
  output: z.object({
    notice,
    entries: z.array(
      entryOutput.extend({
        action: z.string().describe('What the person did last with it.'),
        happened_at: z.string(),
      }),
    ),
  }),
  async run({ context, caller }, { limit }) {
    const { rows } = await recentEntries(context, caller, { limit, after: null })
    const entries = rows.map(({ entry, kind, at }) => ({
      ...shown(entry, entry.drive, entry.names),
      action: kind,
      happened_at: new Date(at).toISOString(),
    }))
    return { value: { notice: NOTICE, entries } }
  },
})

export const readTools = [search, listDrives, listFolder, fileDetails, readText, preview, recent]
