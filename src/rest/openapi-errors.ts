import { type ErrorCode, naturalStatus } from '../errors.ts'
import { clamp } from './envelope.ts'
import type { Schema } from './openapi-schema.ts'

/** What is known of a route when one asks which errors it can answer. */
export interface RouteFacts {
  method: string
  path: string
  /** Names of its arguments, as on the wire. */
  args: readonly string[]
  /** Every status besides 200 (or 302). */
  statuses: readonly number[]
  public: boolean
  takesForm: boolean
}

type Rule = (route: RouteFacts) => boolean

const always: Rule = () => true
const never: Rule = () => false
const takes =
  (...names: string[]): Rule =>
  ({ args }) =>
    names.some(name => args.includes(name))
const under =
  (pattern: RegExp): Rule =>
  ({ path }) =>
    pattern.test(path)
const both =
  (a: Rule, b: Rule): Rule =>
  route =>
    a(route) && b(route)

const writes: Rule = ({ method }) => method !== 'GET'
const adds: Rule = ({ method }) => method !== 'GET' && method !== 'DELETE'
/** Whether it matters who calls. */
const knowsCaller: Rule = route => !route.public || route.statuses.includes(401)
const opensShare: Rule = both(takes('password'), ({ public: open }) => open)
/** Inputs that name where something goes. */
const places = ['path', 'parent_path', 'folder', 'folder_name', 'filename', 'destination']
const files = under(/\/(files|folders|download_token)(\/|$)/)
const shares = under(/^\/api\/(share|d|files\/received)\//)

/**
 * Which routes a code can come from. Wide rather than narrow: a client may rely on no other code coming, so a rule leaves out
 * only what a route has no input or no subject for.
 */
const rules: Record<ErrorCode, Rule> = {
  INVALID_INPUT: always,
  INVALID_JSON: both(writes, ({ takesForm }) => !takesForm),
  INVALID_PATH: takes(...places, 'file', 'files', 'object', 'objects', 'source'),
  INVALID_DURATION: takes('duration', 'expires_in'),
  INVALID_MODE: takes('mode'),
  INVALID_SCOPE: takes('scopes'),
  FOLDER_NOT_EMPTY: takes('recursive'),
  FILE_TOO_LARGE: both(adds, under(/\/uploads?(\/|$)/)),
  QUOTA_EXCEEDED: both(adds, under(/\/(uploads?|folders?|move|mkdir|create|accept)(\/|$)/)),
  SLUG_TAKEN: takes('slug'),
  ALREADY_A_MEMBER: under(/\/invites(\/|$)/),
  UPLOAD_INCOMPLETE: under(/\/uploads(\/|$)/),
  CHECKSUM_MISMATCH: under(/\/uploads?(\/|$)/),
  UNAUTHENTICATED: knowsCaller,
  PASSWORD_REQUIRED: opensShare,
  FORBIDDEN: always,
  INSUFFICIENT_SCOPE: knowsCaller,
  KEY_OUT_OF_BOUNDS: knowsCaller,
  WRONG_PASSWORD: opensShare,
  TOO_MANY_ATTEMPTS: opensShare,
  SHARE_EXPIRED: shares,
  SHARE_USED_UP: shares,
  INVITE_EXPIRED: under(/\/invites(\/|$)/),
  INVITE_NOT_FOR_YOU: under(/\/invites(\/|$)/),
  LAST_OWNER: under(/\/(members|account)(\/|$)/),
  FILE_NOT_FOUND: route => files(route) || shares(route),
  FOLDER_NOT_FOUND: files,
  SHARE_NOT_FOUND: shares,
  TOKEN_NOT_FOUND: takes('token'),
  UPLOAD_NOT_FOUND: under(/\/uploads(\/|$)/),
  API_KEY_NOT_FOUND: under(/\/api_keys(\/|$)/),
  WORKSPACE_NOT_FOUND: under(/\/workspaces(\/|$)|\{workspace_id\}/),
  MEMBER_NOT_FOUND: under(/\/members(\/|$)/),
  INVITE_NOT_FOUND: under(/\/invites(\/|$)/),
  PATH_EXISTS: both(adds, route => route.takesForm || takes(...places)(route)),
  RATE_LIMITED: ({ statuses }) => statuses.includes(429),
  // These come from no route, or from any.
  ROUTE_NOT_FOUND: never,
  METHOD_NOT_ALLOWED: never,
  INTERNAL: never,
  UNAVAILABLE: never,
}

const allCodes = Object.keys(naturalStatus) as ErrorCode[]

/** The codes that a route can answer with a status: those that are naturally its own first, then those that are clamped to it. */
export function codesOf(route: RouteFacts, status: number): ErrorCode[] {
  const natural = (code: ErrorCode) => naturalStatus[code] === status
  // A route without a 400 takes what it is given as well as it can.
  const lenient = !route.statuses.includes(400)
  const leading = allCodes.filter(code => clamp(naturalStatus[code], code, route.statuses) === status)
  const possible = leading.filter(code => rules[code](route) && !(lenient && naturalStatus[code] === 400))
  // A status that the route lists comes from somewhere, whatever the rules say.
  const codes = possible.length > 0 ? possible : leading.filter(natural)
  return [...codes.filter(natural), ...codes.filter(code => !natural(code))]
}

/** The `response` of an error: its code, and details that depend on it. */
export const errorDetails: Schema = {
  type: 'object',
  required: ['code'],
  properties: {
    code: { type: 'string', enum: allCodes, description: 'What went wrong, for programs.' },
    field: { type: 'string', description: 'The input that is wrong.' },
    retry_after: { type: 'integer', description: 'Seconds after which trying again makes sense.' },
    limit: { type: 'string', description: 'The limit that was met.' },
    max: { type: 'integer', format: 'int64', description: 'What that limit allows.' },
    used: { type: 'integer', format: 'int64', description: 'What of it is used.' },
  },
  additionalProperties: true,
}
