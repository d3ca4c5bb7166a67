import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access/caller.ts'
import type { Config } from '../config/config.ts'
import type { BodyKind } from '../http/body.ts'
import type { Callers } from '../http/callers.ts'
import type { Incoming } from '../http/incoming.ts'
import { methodNotAllowed } from '../http/method.ts'
import { type DoorPlan, nothingHere, type Passage, passage } from '../http/threshold.ts'
import { Forbidden } from '../runtime/errors.ts'
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
  callers: Callers
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
  const override = method === 'POST' ? headerOf(req, 'X-HTTP-Method-Override') : undefined
  if (override === undefined) return method
  // A browser sends OPTIONS by itself, and no client needs it instead of a POST.
  return override.toUpperCase() === 'OPTIONS' ? '' : override.toUpperCase()
}

/** @throws TusError 412 */
function requireVersion(req: IncomingMessage): void {
  if (headerOf(req, 'Tus-Resumable') !== VERSION)
    throw new TusError(
      412,
      'INVALID_INPUT',
      `Use version ${VERSION} of tus: send Tus-Resumable: ${VERSION}.`,
      { 'tus-version': VERSION },
    )
}

/**
 * tus 1.0 (https://tus.io/protocols/resumable-upload) at /api/tus/: docs/decisions/tus.md. It
 * translates requests, and the services decide.
 */
export function createTus({ services, callers, config, store }: Deps): DoorPlan {
  const largest = store.maxParts * config.uploadPartBytes

  const idOf = ({ path }: Incoming): string | undefined =>
    path.slice(PREFIX.length).replace(/^\/|\/$/g, '') || undefined

  function passagesOf(
    route: string,
    methods: Record<string, Method>,
  ): (asked: string) => Passage<Caller | null> {
    const allow = [...Object.keys(methods), 'OPTIONS']
    const passages = new Map<string, Passage<Caller | null>>()
    for (const [name, { handle, body, writes }] of Object.entries(methods))
      passages.set(
        name,
        passage({
          route,
          guards: 'session',
          caller: callers.signedIn,
          body,
          writes,
          async handle(incoming, caller) {
            requireVersion(incoming.req)
            const callerNow = () => callers.anyone(incoming)
            await handle({ incoming, services, caller, id: idOf(incoming), callerNow })
          },
        }),
      )
    // Clients send OPTIONS before they sign in. Signed-in callers get their own size limit.
    passages.set('OPTIONS', {
      route,
      guards: 'nothing',
      caller: callers.anyone,
      writes: false,
      handle: ({ res }, caller) => sendOptions(res, caller?.limits.maxFileSizeBytes ?? largest),
    })
    return asked => {
      const found = passages.get(asked)
      if (found) return found
      throw methodNotAllowed(allow)
    }
  }

  function sendOptions(res: ServerResponse, maxBytes: number): void {
    res.writeHead(204, {
      'tus-resumable': VERSION,
      'tus-version': VERSION,
      'tus-extension': EXTENSIONS,
      'tus-max-size': Math.min(largest, maxBytes),
      'tus-checksum-algorithm': chunkAlgorithms.join(','),
      'cache-control': 'no-store',
    })
    res.end()
  }

  const passageOfAll = passagesOf(PREFIX, ofAll)
  const passageOfOne = passagesOf(`${PREFIX}/{id}`, ofOne)
  return {
    prefix: PREFIX,
    options: true,
    find(incoming) {
      const id = idOf(incoming)
      const asked = methodOf(incoming.req)
      if (id?.includes('/') && asked !== 'OPTIONS') throw nothingHere()
      return id === undefined ? passageOfAll(asked) : passageOfOne(asked)
    },
    refuse: refusalOf,
  }
}
