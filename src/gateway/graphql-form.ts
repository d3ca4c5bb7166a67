import type { IncomingMessage, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { processRequest } from 'graphql-upload-minimal'
import { AppError, InvalidInput } from '../errors.ts'

const MAX_FILES = 10
const MAX_FIELD_BYTES = 1024 * 1024
/** What may come before the map: the operations, and what wraps them. */
const MAX_PREFACE_BYTES = 2 * MAX_FIELD_BYTES
const MAX_REASON = 200

/**
 * Reads a form of graphql-multipart-request-spec up to its first file; the files are streams that the operation reads, at constant memory.
 * @returns the one operation, with an upload in the place of each file
 * @throws INVALID_INPUT
 */
export async function readGraphqlForm(req: IncomingMessage, res: ServerResponse): Promise<object> {
  // The library would wait for ever for what a request that has ended says no more.
  if (req.destroyed) throw new InvalidInput('file', 'The connection broke before the form was complete.')
  watchParser(req)
  try {
    const operation = await processRequest(req, res, { maxFiles: MAX_FILES, maxFieldSize: MAX_FIELD_BYTES })
    if (Array.isArray(operation)) throw new InvalidInput('operations', 'Send one operation a request.')
    return operation
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = error instanceof Error ? error.message : ''
    // The library guesses at middleware when it has found nothing.
    const known = reason.startsWith('graphql-upload-minimal') ? '' : `: ${reason.slice(0, MAX_REASON)}`
    throw new InvalidInput('operations', `The form does not follow graphql-multipart-request-spec${known}.`)
  }
}

type Listener = (name: string | undefined, value: unknown, info: unknown) => void

/**
 * Stands between the library and its parser, which it makes when it pipes the request. The library follows the paths of a map into what
 * every object inherits, and so lets a caller break `toString.call` for the whole process; it hears one error of its parser, and the
 * second would end the process; and it reads on for ever while no map comes.
 */
function watchParser(req: IncomingMessage): void {
  const pipe = req.pipe
  req.pipe = <T extends NodeJS.WritableStream>(parser: T, options?: { end?: boolean }): T => {
    let operations: unknown
    let mapped = false
    let size = 0
    const refuse = (message: string) => {
      if (parser instanceof Writable) parser.destroy(new InvalidInput('map', message))
    }
    const library = parser.listeners('field') as Listener[]
    parser.removeAllListeners('field')
    parser.on('field', (name: string | undefined, value: unknown, info: unknown) => {
      if (name === 'operations') operations = parseJson(value)
      mapped ||= name === 'map'
      const stray = name === 'map' ? strayPath(operations, parseJson(value)) : undefined
      if (stray === undefined) for (const listener of library) listener(name, value, info)
      else refuse(`The map must lead to nulls of the operations; "${stray.slice(0, 100)}" does not.`)
    })
    parser.on('error', () => {})
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (!mapped && size > MAX_PREFACE_BYTES) refuse(`The map must come within the first ${MAX_PREFACE_BYTES} bytes.`)
    })
    return pipe.call(req, parser, options) as T
  }
}

/** The first path of a map that does not lead to a null of the operations; maps of another shape are refused by the library. */
function strayPath(operations: unknown, map: unknown): string | undefined {
  const entries = typeof map === 'object' && map !== null ? Object.values(map) : []
  return entries.flat().find((path): path is string => typeof path === 'string' && follow(operations, path) !== null)
}

/** What lies at a path of own properties; undefined where there is nothing. */
function follow(value: unknown, path: string): unknown {
  let current = value
  for (const name of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined
    current = Reflect.get(current, name)
  }
  return current
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}
