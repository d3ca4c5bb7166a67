import type { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import busboy from 'busboy'
import { processRequest, Upload } from 'graphql-upload-minimal'
import { searchNatively } from '../http/boundary.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { excerpt } from '../values/excerpt.ts'
import { parseJson } from '../values/json.ts'

const MAX_FILES = 10
const MAX_FIELD_BYTES = 1024 * 1024
/** The maximum size of the operations and part headers before the map. */
const MAX_PREFACE_BYTES = 2 * MAX_FIELD_BYTES
const MAX_REASON = 200

/**
 * Reads a form of graphql-multipart-request-spec up to its first file. The files are streams that
 * the operation reads, in constant memory.
 * @returns the operation, with an upload in place of each file
 * @throws INVALID_INPUT
 */
export async function readGraphqlForm(
  req: IncomingMessage,
  res: ServerResponse,
  signal: AbortSignal,
): Promise<object> {
  // The library would wait forever for the rest of a closed request.
  if (req.destroyed)
    throw new InvalidInput('file', 'The connection broke before the form was complete.')
  const paths = watchParser(req, signal)
  try {
    const operation = await processRequest(req, res, {
      maxFiles: MAX_FILES,
      maxFieldSize: MAX_FIELD_BYTES,
    })
    if (Array.isArray(operation))
      throw new InvalidInput('operations', 'Send one operation per request.')
    refuseOtherOrder(paths().map(path => follow(operation, path)))
    return operation
  } catch (error) {
    if (error instanceof AppError) throw error
    if (signal.reason instanceof AppError) throw signal.reason
    const reason = error instanceof Error ? error.message : ''
    // When the library finds no operation, its message blames middleware.
    const known = reason.startsWith('graphql-upload-minimal')
      ? ''
      : `: ${reason.slice(0, MAX_REASON)}`
    throw new InvalidInput(
      'operations',
      `The form does not follow graphql-multipart-request-spec${known}.`,
    )
  }
}

/** The fields of an upload that the types of the library lack. */
type Rejectable = Upload & { reject(error: Error): void }

/**
 * Files arrive in sequence, and each only after the previous one was read. An operation that waits
 * for a later file, while an earlier one is unread, would hang until the connection is cut. The
 * order is checked when a resolver requests a file.
 */
function refuseOtherOrder(placed: unknown[]): void {
  const uploads = new Set(placed.filter((value): value is Rejectable => value instanceof Upload))
  const awaited = new Set<Rejectable>()
  const refuse = () => {
    if (![...uploads].some(upload => upload.file && !awaited.has(upload))) return
    const message =
      'This file follows one that is read later. Send the files in the order in which the operation reads them.'
    for (const upload of awaited) if (!upload.file) upload.reject(new InvalidInput('file', message))
  }
  for (const upload of uploads) {
    const { promise } = upload
    const then = promise.then.bind(promise)
    then(refuse, () => {})
    const wait = (...handlers: Parameters<typeof then>) => {
      awaited.add(upload)
      refuse()
      return then(...handlers)
    }
    Reflect.set(promise, 'then', wait)
  }
}

type Listener = (name: string | undefined, value: unknown, info: unknown) => void

/**
 * Wraps the parser that the library creates when it pipes the request. The library follows map
 * paths into inherited properties, which would let a caller break `toString.call` for the whole
 * process. It handles only one parser error, and a second would stop the process. It also reads
 * forever if no map arrives.
 * @param signal also aborts the form
 * @returns a function that returns the paths of the map, once it has arrived
 */
function watchParser(req: IncomingMessage, signal: AbortSignal): () => string[] {
  const pipe = req.pipe
  let paths: string[] = []
  req.pipe = <T extends NodeJS.WritableStream>(theirs: T, options?: { end?: boolean }): T => {
    const parser = parserWithPaths(req, theirs)
    let operations: unknown
    let mapped = false
    let size = 0
    const refuse = (message: string) => {
      parser.destroy(new InvalidInput('map', message))
    }
    searchNatively(parser)
    const library = parser.listeners('field') as Listener[]
    parser.removeAllListeners('field')
    parser.on('field', (name: string | undefined, value: unknown, info: unknown) => {
      if (name === 'operations') operations = parseJson(String(value))
      mapped ||= name === 'map'
      if (name === 'map') paths = pathsOf(parseJson(String(value)))
      const stray =
        name === 'map' ? paths.find(path => follow(operations, path) !== null) : undefined
      if (stray === undefined) for (const listener of library) listener(name, value, info)
      else refuse(`The map must lead to nulls of the operations; "${excerpt(stray)}" does not.`)
    })
    parser.on('error', () => {})
    // Aborts a body that arrives too slowly, together with its files.
    const late = () => void parser.destroy(signal.reason)
    if (signal.aborted) late()
    else signal.addEventListener('abort', late, { once: true })
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (!mapped && size > MAX_PREFACE_BYTES)
        refuse(`The map must be within the first ${MAX_PREFACE_BYTES} bytes.`)
    })
    pipe.call(req, parser, options)
    return theirs
  }
  return () => paths
}

/**
 * A parser with the listeners of the library's parser, which would keep only the text after the
 * last slash of a file name. An encoded name may contain slashes.
 */
function parserWithPaths(req: IncomingMessage, theirs: NodeJS.WritableStream): busboy.Busboy {
  const parser = busboy({
    headers: req.headers,
    defParamCharset: 'utf8',
    preservePath: true,
    limits: { fields: 2, fieldSize: MAX_FIELD_BYTES, files: MAX_FILES },
  })
  for (const event of ['field', 'file', 'filesLimit', 'close', 'error'])
    for (const listener of theirs.listeners(event))
      parser.on(event, listener as (...given: unknown[]) => void)
  // The library stops reading by destroying its parser.
  if (theirs instanceof Writable)
    theirs.destroy = error => {
      req.unpipe(parser)
      parser.destroy(error)
      return theirs
    }
  return parser
}

/** The paths of a map. The library refuses maps of another shape. */
function pathsOf(map: unknown): string[] {
  const entries = typeof map === 'object' && map !== null ? Object.values(map) : []
  return entries.flat().filter((path): path is string => typeof path === 'string')
}

/** The value at a path of own properties, or undefined. */
function follow(value: unknown, path: string): unknown {
  let current = value
  for (const name of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name))
      return undefined
    current = Reflect.get(current, name)
  }
  return current
}
