import { type AppError, type ErrorCode, toAppError } from '../runtime/errors.ts'

/** The shape of every JSON response: contract, section 1. */
export interface Envelope {
  status: number
  msg: string
  response: unknown
}

/** A response that is ready to be sent. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

export const jsonHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
}

export const success = (value: unknown, msg = 'ok'): Envelope => ({
  status: 200,
  msg,
  response: value,
})

export function answer(envelope: Envelope, headers: Record<string, string> = {}): Answer {
  return {
    status: envelope.status,
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify(envelope),
  }
}

const POLL_SECONDS = 2

/** The requested work continues after this request: RFC 7240, section 4.1. */
export const accepted = ({
  location,
  value,
  isPreferred,
}: {
  location: string
  value: object
  isPreferred: boolean
}): Answer =>
  answer(
    { status: 202, msg: 'accepted', response: value },
    {
      location,
      'retry-after': String(POLL_SECONDS),
      ...(isPreferred ? { 'preference-applied': 'respond-async' } : {}),
    },
  )

/** A 304: the caller already has this response. */
export const unchanged = (headers: Record<string, string>): Answer => ({
  status: 304,
  headers: { 'cache-control': 'no-store', ...headers },
  body: '',
})

/**
 * The error response for any thrown value, with a status that the route lists: docs/contract.md,
 * "Statuses are closed".
 * @param statuses the statuses of the route, or the status of an error; undefined if there is no
 * route
 */
export function failure(
  thrown: unknown,
  statuses?: readonly number[] | ((error: AppError) => number),
): Answer {
  const { error } = toAppError(thrown)
  return refusal(
    error,
    typeof statuses === 'function' ? statuses(error) : clamp(error.status, error.code, statuses),
  )
}

function refusal(error: AppError, status: number): Answer {
  const { code, details, message } = error
  return answer(
    { status, msg: message, response: { code, ...details } },
    { ...errorHeaders({ status, details }), ...rateHeaders(error) },
  )
}

/** The headers of a refusal on every interface: when to retry, and which methods are allowed. */
export function errorHeaders({
  status,
  details,
}: Pick<AppError, 'status' | 'details'>): Record<string, string> {
  const retryAfter = details.retry_after ?? (status >= 500 ? 5 : undefined)
  return {
    ...(typeof retryAfter === 'number' ? { 'retry-after': String(retryAfter) } : {}),
    ...(Array.isArray(details.allow) ? { allow: details.allow.join(', ') } : {}),
  }
}

/** The limit and its remaining quota, by draft-ietf-httpapi-ratelimit-headers. */
function rateHeaders({ code, details }: AppError): Record<string, string> {
  if (code !== 'RATE_LIMITED') return {}
  const { policy, limit, window, retry_after } = details
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${window}`,
    ratelimit: `"${policy}";r=0;t=${retry_after}`,
  }
}

/**
 * The route's status for an error. If the route does not list the natural status, a refused
 * credential becomes 401, and everything else 400.
 */
export function clamp(natural: number, code: ErrorCode, statuses?: readonly number[]): number {
  if (
    !statuses ||
    natural >= 500 ||
    statuses.includes(natural) ||
    code === 'ROUTE_NOT_FOUND' ||
    code === 'METHOD_NOT_ALLOWED'
  )
    return natural
  // The last owner cannot leave a workspace. That is not a refused credential.
  if (natural === 403 && code !== 'LAST_OWNER' && statuses.includes(401)) return 401
  if (statuses.includes(400)) return 400
  return statuses.includes(404) ? 404 : natural
}
