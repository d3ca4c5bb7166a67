import type { IncomingMessage } from 'node:http'
import type { Caller, Origin } from '../access/caller.ts'
import { refuseForeignWrites } from '../access/origin.ts'
import type { Config } from '../config/config.ts'
import type { BodyKind } from '../http/body.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Mount } from '../http/server.ts'
import { write } from '../http/write.ts'
import { AppError, Forbidden, Unauthenticated } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import { chunkAlgorithms } from '../services/uploads/stream-append.ts'
import type { BlobStore } from '../storage/store.ts'
import { append } from './append.ts'
import { create } from './create.ts'
import { type Exchange, PREFIX, sendEmpty, stateHeaders } from './exchange.ts'
import { headerOf } from './headers.ts'
import { driveOfUpload } from './place.ts'
import { refusalOf, TusError, VERSION } from './refusal.ts'

interface Deps {
  services: Services
  findCaller: (req: IncomingMessage) => Promise<Caller | null>
  originOf: (req: IncomingMessage, address: string) => Origin
  /** Origins whose pages may act for their visitors with cookies. */
  ownOrigins: () => string[]
  config: Pick<Config, 'uploadPartBytes'>
  store: Pick<BlobStore, 'maxParts'>
}

interface Method {
  handle(exchange: Exchange): Promise<void>
  /** How its body is read. */
  body: BodyKind
  /** Whether the method is refused during maintenance. */
  writes: boolean
}

const EXTENSIONS =
  'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination,concatenation'

/** Handles HEAD: reports the offset (section "Core Protocol"). */
async function head(exchange: Exchange): Promise<void> {
  const { services, caller, id = '' } = exchange
  const { tree } = (await driveOfUpload(services, caller, id)).open('write')
  const view = await services.uploadStreams.find(tree, id, caller.userId)
  const { metadata, kind, parts, session, isDeferred } = view
  const concat = parts ? `final;${parts.map(part => `${PREFIX}/${part}`).join(' ')}` : 'partial'
  sendEmpty(exchange, 200, {
    ...stateHeaders(view),
    ...(isDeferred ? { 'upload-defer-length': '1' } : { 'upload-length': String(session.size) }),
    ...(metadata === '' ? {} : { 'upload-metadata': metadata }),
    ...(kind === 'whole' ? {} : { 'upload-concat': concat }),
  })
}

/** Handles DELETE (section "Termination"). */
async function end(exchange: Exchange): Promise<void> {
  const { services, caller, id = '' } = exchange
  const { tree } = (await driveOfUpload(services, caller, id)).open('write')
  const { session } = await services.uploadStreams.look(tree, id, caller.userId)
  if (session.isCompleted)
    throw new Forbidden('This upload is a file already. Delete the file instead.')
  await services.uploadStreams.end(tree, id, caller.userId)
  sendEmpty(exchange, 204)
}

const ofAll: Record<string, Method> = { POST: { handle: create, body: 'stream', writes: true } }
const ofOne: Record<string, Method> = {
  HEAD: { handle: head, body: 'whole', writes: false },
  PATCH: { handle: append, body: 'stream', writes: true },
  DELETE: { handle: end, body: 'whole', writes: true },
}

/**
 * The method of a request. A POST may override it with a header (section "Headers":
 * X-HTTP-Method-Override).
 */
function methodOf(req: IncomingMessage): string {
  const { method = '' } = req
  return method === 'POST'
    ? (headerOf(req, 'X-HTTP-Method-Override')?.toUpperCase() ?? method)
    : method
}

/**
 * tus 1.0 (https://tus.io/protocols/resumable-upload) at /api/tus/: docs/decisions/tus.md. It
 * translates requests, and the services decide.
 */
export function createTus({
  services,
  findCaller,
  originOf,
  ownOrigins,
  config,
  store,
}: Deps): Mount {
  const largest = store.maxParts * config.uploadPartBytes

  /** Clients send OPTIONS before they sign in. Signed-in callers get their own size limit. */
  async function options({ req, res }: Incoming): Promise<void> {
    const caller = await findCaller(req)
    res.writeHead(204, {
      'tus-resumable': VERSION,
      'tus-version': VERSION,
      'tus-extension': EXTENSIONS,
      'tus-max-size': Math.min(largest, caller?.limits.maxFileSizeBytes ?? largest),
      'tus-checksum-algorithm': chunkAlgorithms.join(','),
      'cache-control': 'no-store',
    })
    res.end()
  }

  async function answer(incoming: Incoming): Promise<void> {
    const { req, path, address } = incoming
    const id = path.slice(PREFIX.length).replace(/^\/|\/$/g, '') || undefined
    incoming.route = id === undefined ? PREFIX : `${PREFIX}/{id}`
    if (req.method === 'OPTIONS') return incoming.admit(null).then(() => options(incoming))
    if (id?.includes('/')) throw new AppError('ROUTE_NOT_FOUND', 'There is nothing at this URL.')
    refuseForeignWrites(req, ownOrigins())
    const methods = id === undefined ? ofAll : ofOne
    const asked = methodOf(req)
    const method = Object.hasOwn(methods, asked) ? methods[asked] : undefined
    const caller = await findCaller(req)
    await incoming.admit(caller?.userId ?? null, method?.body ?? 'whole')
    if (!method) {
      const allow = [...Object.keys(methods), 'OPTIONS']
      throw new AppError('METHOD_NOT_ALLOWED', `This URL accepts only ${allow.join(', ')}.`, {
        allow,
      })
    }
    if (headerOf(req, 'Tus-Resumable') !== VERSION)
      throw new TusError(
        412,
        'INVALID_INPUT',
        `Speak version ${VERSION} of tus: send Tus-Resumable: ${VERSION}.`,
        {
          'tus-version': VERSION,
        },
      )
    if (!caller) throw new Unauthenticated()
    if (method.writes) services.maintenance.requireWritable()
    const withOrigin = (found: Caller) => ({ ...found, from: originOf(req, address) })
    await method.handle({
      incoming,
      services,
      caller: withOrigin(caller),
      id,
      callerNow: () => findCaller(req),
    })
  }

  return {
    prefix: PREFIX,
    admits: true,
    options: true,
    routes: true,
    async handle(incoming) {
      try {
        await answer(incoming)
      } catch (error) {
        incoming.noteError(error)
        write(incoming.res, incoming.req, refusalOf(error, incoming.log))
      }
    },
  }
}
