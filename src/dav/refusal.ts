import type { Answer } from '../http/envelope.ts'
import { errorHeaders } from '../http/envelope.ts'
import { type ErrorCode, ProtocolError, toAppError } from '../runtime/errors.ts'
import { escapeXml, XML_START, XML_TYPE } from './xml.ts'

/** The conditions of RFC 4918, section 16, that a response may name. */
type Condition =
  | 'propfind-finite-depth'
  | 'cannot-modify-protected-property'
  | 'no-conflicting-lock'
  | 'lock-token-submitted'
  | 'lock-token-matches-request-uri'

/** An error of this protocol, with its own status. */
export class DavError extends ProtocolError {
  readonly status: number
  readonly condition: Condition | undefined
  readonly hrefs: readonly string[]
  readonly headers: Record<string, string>

  constructor(
    status: number,
    message: string,
    {
      condition,
      hrefs = [],
      headers = {},
    }: { condition?: Condition; hrefs?: readonly string[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.condition = condition
    this.hrefs = hrefs
    this.headers = headers
  }
}

/** Errors whose WebDAV status differs from the other interfaces. */
const statuses: Partial<Record<ErrorCode, number>> = {
  QUOTA_EXCEEDED: 507,
  SHARE_FULL: 507,
  NO_SPACE: 507,
  FILE_TOO_LARGE: 413,
  TOO_MANY_ATTEMPTS: 429,
}

/** The response for any thrown value. */
export function refusalOf(thrown: unknown): Answer {
  if (thrown instanceof DavError) {
    const { status, condition, hrefs, message, headers } = thrown
    const inside = hrefs.map(href => `<d:href>${escapeXml(href)}</d:href>`).join('')
    const named = condition ? `<d:${condition}>${inside}</d:${condition}>` : ''
    return answerOf(status, `${named}<S:message>${escapeXml(message)}</S:message>`, headers)
  }
  const { error } = toAppError(thrown)
  const status = statuses[error.code] ?? error.status
  return answerOf(
    status,
    `<S:code>${error.code}</S:code><S:message>${escapeXml(error.message)}</S:message>`,
    errorHeaders({ status, details: error.details }),
  )
}

const answerOf = (status: number, content: string, headers: Record<string, string>): Answer => ({
  status,
  headers: { 'content-type': XML_TYPE, 'cache-control': 'no-store', ...headers },
  body: `${XML_START}<d:error xmlns:d="DAV:" xmlns:S="urn:satchel:error">${content}</d:error>\n`,
})
