import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import { hrefOf, pathOf } from '../../dav/address.ts'
import { type DavDeps, handleAt } from '../../dav/dav.ts'
import { sendEmpty } from '../../dav/exchange.ts'
import { store } from '../../dav/files.ts'
import { DavError, refusalOf } from '../../dav/refusal.ts'
import { multistatus, responseOf } from '../../dav/xml.ts'
import { type BodyKind, readRaw } from '../../http/body.ts'
import type { Incoming } from '../../http/incoming.ts'
import { type Passage, passage } from '../../http/threshold.ts'
import { write } from '../../http/write.ts'
import { type ChunkView, parseTransfer } from '../../services/uploads/upload-chunk.ts'
import { readPath } from './collection.ts'
import { filesFace, notYours } from './files.ts'

export const UPLOADS = '/remote.php/dav/uploads'
/** The name at which the chunks become a file. */
const WHOLE = '.file'

/** A URL of an upload in chunks: a transfer of the caller, and what is in it. */
interface Target {
  transfer: string
  name: string | undefined
}

/** @throws DavError 404, INVALID_INPUT */
function targetOf({ path }: Incoming, caller: Caller): Target {
  const [transfer = '', name, ...more] = readPath(path, UPLOADS, caller)
  if (more.length > 0) throw notYours()
  return { transfer: parseTransfer(transfer), name }
}

const nothingThere = () =>
  new DavError(404, 'There are no such chunks. They end a day after the last one.')

/** @throws DavError 400 */
function numberOf(name: string | undefined): number {
  const number = name !== undefined && /^\d{1,16}$/.test(name) ? Number(name) : Number.NaN
  if (!Number.isSafeInteger(number)) throw new DavError(400, 'The name of a chunk is its number.')
  return number
}

const empty = ({ res }: Incoming, status: number) =>
  void res.writeHead(status, status === 204 ? {} : { 'content-length': 0 }).end()

/**
 * Uploads in chunks by Nextcloud's clients, in their versions 1 and 2: a folder for each upload,
 * chunks with numbers in it, and a MOVE that makes the file. Chunks may arrive in any order and in
 * parallel, and be sent again. Nothing is at the destination before the MOVE has succeeded.
 */
export function uploadPassages(deps: DavDeps): Map<string, Passage> {
  const { services, signIn } = deps
  const { uploadChunks } = services

  /** Begins an upload. Nothing is stored before its first chunk. */
  async function begin(incoming: Incoming, caller: Caller): Promise<void> {
    if (targetOf(incoming, caller).name !== undefined)
      throw new DavError(409, 'Only the folder of an upload can be created here.')
    Drive.own(caller).open('write')
    empty(incoming, 201)
  }

  async function put(incoming: Incoming, caller: Caller): Promise<void> {
    const { transfer, name } = targetOf(incoming, caller)
    const number = numberOf(name)
    const { tree, limits } = Drive.own(caller).open('write')
    const { source, bound } = readRaw(incoming.req)
    if (bound === undefined)
      throw new DavError(411, 'Say in Content-Length how many bytes the chunk has.')
    await uploadChunks.write(
      tree,
      { transfer, number },
      { source, size: bound },
      {
        caller,
        limits,
        signal: incoming.signal,
        async goesOn() {
          services.maintenance.requireWritable()
          Drive.own(await signIn(incoming)).open('write')
        },
      },
    )
    empty(incoming, 201)
  }

  const chunksOf = (caller: Caller, transfer: string): Promise<ChunkView[]> =>
    uploadChunks.list(Drive.own(caller).open('write').tree, transfer, caller)

  /**
   * Lists the chunks that have arrived. Android's app asks for them right after MKCOL, and gives up
   * after a 404. So an upload without chunks is an empty folder.
   */
  async function list(incoming: Incoming, caller: Caller): Promise<void> {
    const { transfer, name } = targetOf(incoming, caller)
    if (name !== undefined) throw nothingThere()
    const chunks = await chunksOf(caller, transfer)
    const [prefix = ''] = /^\/remote\.php\/dav\/uploads\/[^/]+/.exec(incoming.path) ?? []
    const isDeep = incoming.req.headers.depth !== '0'
    const described = (href: string, props: string) =>
      responseOf(
        href,
        `<d:propstat><d:prop>${props}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>`,
      )
    const files = chunks.map(({ number, size }) =>
      described(
        hrefOf(prefix, [transfer, String(number)], false),
        `<d:resourcetype/><d:getcontentlength>${size}</d:getcontentlength>`,
      ),
    )
    const folder = described(
      hrefOf(prefix, [transfer], true),
      '<d:resourcetype><d:collection/></d:resourcetype>',
    )
    write(incoming.res, incoming.req, multistatus([folder, ...(isDeep ? files : [])]))
  }

  async function assemble(incoming: Incoming, caller: Caller): Promise<void> {
    const { req } = incoming
    const { transfer, name } = targetOf(incoming, caller)
    if (name !== WHOLE) throw new DavError(400, `MOVE takes ${WHOLE} of the upload.`)
    if (req.headers.destination === undefined)
      throw new DavError(400, 'Send the URL of the file in a Destination header.')
    const path = pathOf(req.headers.destination.toString(), req, deps.publicUrl())
    const chunks = await chunksOf(caller, transfer)
    if (chunks.length === 0) throw nothingThere()
    const { tree, limits } = Drive.own(caller).open('write')
    const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0)
    const said = req.headers['oc-total-length']
    if (said !== undefined && Number(said) !== size)
      throw new DavError(400, `The chunks have ${size} bytes, and not ${said}. Send the rest.`)
    const aimed = { incoming, caller, face: filesFace(path, caller), path }
    await handleAt(deps, aimed, async exchange => {
      const whole = { source: uploadChunks.read(tree, chunks, caller), bound: size, mimetype: '' }
      // A share has the space of its owner, and the chunks keep theirs until the end.
      const isOwn = exchange.place.reading && exchange.place.drive?.id === tree.bucketId
      const { status, headers } = isOwn
        ? await uploadChunks.handOver(tree, chunks, { caller, limits }, before =>
            store(exchange, { ...whole, before }),
          )
        : await store(exchange, whole)
      // The file exists, and chunks that stay expire by themselves.
      await uploadChunks
        .end(tree, transfer, caller)
        .catch(error => incoming.log.warn({ err: error }, 'could not end the chunks of an upload'))
      sendEmpty(exchange, status, headers)
    })
  }

  async function end(incoming: Incoming, caller: Caller): Promise<void> {
    const { transfer, name } = targetOf(incoming, caller)
    if (name !== undefined) throw new DavError(405, 'Only a whole upload can be ended.')
    if (!(await uploadChunks.end(Drive.own(caller).open('write').tree, transfer, caller)))
      throw nothingThere()
    empty(incoming, 204)
  }

  const made = (
    handle: Passage<Caller>['handle'],
    { writes, body = 'whole' }: { writes: boolean; body?: BodyKind },
  ) =>
    passage({
      route: UPLOADS,
      guards: 'nothing',
      caller: signIn,
      body,
      writes,
      handle,
      refuse: refusalOf,
    })
  return new Map([
    ['MKCOL', made(begin, { writes: true })],
    ['PUT', made(put, { writes: true, body: 'upload' })],
    ['PROPFIND', made(list, { writes: false })],
    ['MOVE', made(assemble, { writes: true })],
    ['DELETE', made(end, { writes: true })],
  ])
}
