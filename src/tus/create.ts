import { randomUUID } from 'node:crypto'
import type { OpenDrive } from '../access/drive.ts'
import { InvalidInput } from '../runtime/errors.ts'
import type { StreamView } from '../services/uploads/upload-stream.ts'
import { modifiedAtOf } from '../upload-engine/modified-at.ts'
import { fromDate } from '../values/modified-at.ts'
import { chunkOf, isChunk } from './append.ts'
import { type Exchange, sendEmpty, senderOf, stateHeaders, urlOf } from './exchange.ts'
import { bytesIn, headerOf, isLengthDeferred, parseConcat, parseMetadata } from './headers.ts'
import { driveNamed } from './place.ts'

/** The metadata by the names that clients use, and by the names of the other interfaces. */
function describe(metadata: ReadonlyMap<string, string>) {
  const first = (...keys: string[]) => keys.map(key => metadata.get(key)).find(value => value)
  return {
    filename: first('filename', 'name'),
    contentType: first('filetype', 'type', 'content_type'),
    folder: first('folder'),
    workspace: first('workspace'),
    share: first('share'),
    onConflict: first('on_conflict'),
    modifiedAt: timeOf(metadata),
  }
}

/**
 * The modification time, in seconds from ownCloud clients, or in milliseconds since 1970 from a
 * browser's File. Metadata is free text, so an invalid time is ignored.
 */
function timeOf(metadata: ReadonlyMap<string, string>): number | undefined {
  const [seconds, ms] = [metadata.get('mtime'), metadata.get('lastModified')]
  if (seconds !== undefined) return fromDate(seconds)
  return ms !== undefined && /^-?\d+$/.test(ms) ? modifiedAtOf(Number(ms)) : undefined
}

interface Creation {
  metadata: string
  described: ReturnType<typeof describe>
  open: OpenDrive
  sender: ReturnType<typeof senderOf>
}

function nameOf({ filename }: Creation['described']): string {
  if (filename === undefined)
    throw new InvalidInput(
      'Upload-Metadata',
      'Upload-Metadata must contain "filename" and the file name in base64.',
    )
  return filename
}

/**
 * The target of a file, and the action if its name is taken.
 * @throws INVALID_INPUT, FORBIDDEN
 */
const destinationOf = ({ described, open, metadata }: Creation) => ({
  filename: nameOf(described),
  folder: described.folder,
  contentType: described.contentType,
  onConflict: open.drive.onConflict(described.onConflict),
  modifiedAt: described.modifiedAt,
  metadata,
})

/** A partial upload has no name of its own. */
const nameless = ({ metadata }: Creation) => ({
  filename: `part ${randomUUID()}`,
  onConflict: 'keep_both' as const,
  metadata,
})

/**
 * Handles POST: creates an upload (section "Creation"), including its first bytes ("Creation With
 * Upload").
 */
export async function create(exchange: Exchange): Promise<void> {
  const { incoming, services, caller } = exchange
  const { req } = incoming
  const concat = parseConcat(headerOf(req, 'Upload-Concat'))
  const metadata = headerOf(req, 'Upload-Metadata') ?? ''
  const described = describe(parseMetadata(metadata))
  const open = (await driveNamed(services, caller, described)).open('write')
  const reopen = async (now: typeof caller) =>
    (await driveNamed(services, now, described)).open('write')
  const creation: Creation = { metadata, described, open, sender: senderOf(exchange, open, reopen) }
  const view = Array.isArray(concat)
    ? await join(exchange, creation, concat)
    : await start(exchange, creation, concat)
  sendEmpty(exchange, 201, { location: urlOf(view.session.id), ...stateHeaders(view) })
}

const join = ({ services }: Exchange, creation: Creation, ids: string[]): Promise<StreamView> =>
  services.uploadStreams.join(
    creation.open.tree,
    destinationOf(creation),
    ids,
    creation.open.limits,
    creation.sender,
  )

async function start(
  exchange: Exchange,
  creation: Creation,
  concat: 'partial' | undefined,
): Promise<StreamView> {
  const { incoming, services, caller } = exchange
  const { open, sender } = creation
  const isDeferred = isLengthDeferred(incoming.req)
  const length = bytesIn(incoming.req, 'Upload-Length')
  if (length === undefined && !isDeferred)
    throw new InvalidInput(
      'Upload-Length',
      'Send the file size in Upload-Length, or send Upload-Defer-Length: 1.',
    )
  const size = length ?? 0
  const given = concat
    ? ({ ...nameless(creation), kind: 'partial' } as const)
    : ({ ...destinationOf(creation), kind: 'whole' } as const)
  const { uploadStreams: streams } = services
  const { id } = await streams.begin(
    open.tree,
    { ...given, size, isDeferred },
    open.limits,
    caller.userId,
  )
  const isEmpty = length === 0 && !concat
  if (!isChunk(exchange) && !isEmpty) return streams.look(open.tree, id, caller.userId)
  try {
    if (isEmpty) return await streams.finish(open.tree, id, sender)
    return await streams.write(open.tree, id, 0, chunkOf(exchange, length, 0), sender)
  } catch (error) {
    // The client will not receive a URL to continue at.
    await streams.end(open.tree, id, caller.userId).catch(() => {})
    throw error
  }
}
