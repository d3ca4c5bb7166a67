import { DavError } from '../../dav/refusal.ts'
import { escapeXml, XML_START, XML_TYPE } from '../../dav/xml.ts'
import type { Answer } from '../../http/envelope.ts'
import { errorHeaders, jsonHeaders } from '../../http/envelope.ts'
import type { Incoming } from '../../http/incoming.ts'
import { AppError, toAppError } from '../../runtime/errors.ts'

// The envelope of the Open Collaboration Services, in JSON or XML.

/** A value of a response. */
export type OcsValue =
  | string
  | number
  | boolean
  | null
  | readonly OcsValue[]
  | { readonly [name: string]: OcsValue }

/** The version in the path. They differ in the codes inside of the envelope. */
const versionOf = (path: string): 1 | 2 => (path.startsWith('/ocs/v1.php') ? 1 : 2)

const wantsJson = ({ query, req }: Incoming): boolean =>
  query.get('format') === 'json' || /\bapplication\/json\b/.test(req.headers.accept ?? '')

/** An element for each value. The items of a list are called `element`. */
function xmlOf(name: string, value: OcsValue): string {
  if (value === null || value === '') return `<${name}/>`
  if (Array.isArray(value))
    return `<${name}>${value.map(item => xmlOf('element', item)).join('')}</${name}>`
  if (typeof value === 'object') {
    const inside = Object.entries(value).map(([key, item]) => xmlOf(key, item))
    return `<${name}>${inside.join('')}</${name}>`
  }
  const text = typeof value === 'boolean' ? (value ? '1' : '') : String(value)
  return `<${name}>${escapeXml(text)}</${name}>`
}

interface Meta {
  status: 'ok' | 'failure'
  statuscode: number
  message: string
}

function send(incoming: Incoming, meta: Meta, data: OcsValue, status: number): Answer {
  const noStore = { 'cache-control': 'no-store' }
  const value = { meta: { ...meta }, data }
  if (wantsJson(incoming))
    return { status, headers: jsonHeaders, body: JSON.stringify({ ocs: value }) }
  const headers = { 'content-type': XML_TYPE, ...noStore }
  return { status, headers, body: `${XML_START}${xmlOf('ocs', value)}\n` }
}

/** A successful response. */
export function ocs(incoming: Incoming, data: OcsValue): Answer {
  const statuscode = versionOf(incoming.path) === 1 ? 100 : 200
  return send(incoming, { status: 'ok', statuscode, message: 'OK' }, data, 200)
}

/** An error with its status. Clients wait after 429, and sign in again after 403. */
function errorOf(thrown: unknown): { status: number; message: string } {
  const { code, status, message } = toAppError(thrown).error
  return { status: code === 'TOO_MANY_ATTEMPTS' ? 429 : status, message }
}

/** The response to an error. Version 1 has codes of its own for a missing credential. */
export function ocsRefusal(thrown: unknown, incoming: Incoming): Answer {
  const isSignIn = thrown instanceof DavError
  const { status, message } = isSignIn ? thrown : errorOf(thrown)
  const isFirst = versionOf(incoming.path) === 1
  const statuscode = isFirst && status === 401 ? 997 : status
  const answer = send(incoming, { status: 'failure', statuscode, message }, [], status)
  const headers = isSignIn ? thrown.headers : errorHeaders(toAppError(thrown).error)
  return { ...answer, headers: { ...answer.headers, ...headers } }
}

/** The error for a part of the protocol that this service does not offer. */
export const notOffered = () =>
  new AppError('ROUTE_NOT_FOUND', 'This service does not offer this function to apps.')
