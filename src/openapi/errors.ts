import type { Method } from '../../schema/plugins/rest.ts'
import { clamp } from '../http/envelope.ts'
import type { Route } from '../rest/routes.ts'
import {
  type ErrorCode,
  Forbidden,
  NoSpace,
  naturalStatus,
  Unauthenticated,
  Unavailable,
} from '../runtime/errors.ts'
import { shareFull } from '../services/bound.ts'
import {
  requestClosed,
  requestFull,
  requestNotFound,
} from '../services/sharing/file-request-term.ts'
import { objectOf, type Reference, type Schema, type SchemaOrRef } from './schema.ts'

interface Kind {
  /** An example message. */
  says: string
  /**
   * The details besides the code: those that are always present, and optional ones, each with an
   * example.
   */
  details?: Record<string, Schema>
  sometimes?: Record<string, Schema>
}

const someText = (example: string, description: string): Schema => ({
  type: 'string',
  description,
  example,
})
const aNumber = (example: number, description: string): Schema => ({
  type: 'integer',
  format: 'int64',
  description,
  example,
})
const field = (example: string) => ({ field: someText(example, 'The invalid input.') })
const named = { id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id.') }
const path = { path: someText('docs/report.pdf', 'The path.') }
const retryAfter = (example: number) => ({
  retry_after: aNumber(example, 'Seconds to wait before trying again.'),
})
const limit = (example: string, max: number) => ({
  limit: someText(example, 'The name of the limit.'),
  max: aNumber(max, 'The value of the limit.'),
})

/** The documented message and details of each code. */
const kinds: Record<ErrorCode, Kind> = {
  INVALID_INPUT: {
    says: '"name" is missing.',
    details: field('name'),
    sometimes: { max: aNumber(1_048_576, 'The maximum, if the value is too large.') },
  },
  INVALID_JSON: {
    says: 'The body is not valid JSON in UTF-8. Check its syntax and its encoding.',
    details: field('body'),
  },
  INVALID_PATH: {
    says: 'The names . and .. are not allowed: write the full path from the top folder.',
    details: field('path'),
  },
  INVALID_DURATION: {
    says: 'Give a duration as a whole number and a unit without a space, such as 7d.',
    details: field('duration'),
  },
  INVALID_MODE: { says: 'The mode must be download or inline.', details: field('mode') },
  INVALID_SCOPE: {
    says: 'There is no scope "files:read" for this kind of key.',
    details: field('scopes'),
  },
  FOLDER_NOT_EMPTY: {
    says: 'The folder "docs" is not empty. Empty it first, or delete it with recursive=true.',
    details: {
      files: aNumber(12, 'Number of files in it, at any depth.'),
      folders: aNumber(3, 'Number of folders in it, at any depth.'),
    },
  },
  FILE_TOO_LARGE: {
    says: 'A file may have up to 2147483648 bytes. Send a smaller file, or ask for a larger plan.',
    details: limit('max_file_size_bytes', 2_147_483_648),
  },
  QUOTA_EXCEEDED: {
    says: 'The plan allows 10000 files. Delete some, or ask for a larger plan.',
    details: { ...limit('max_files', 10_000), used: aNumber(10_000, 'How much of it is used.') },
  },
  SLUG_TAKEN: {
    says: 'The slug "garden" belongs to another workspace, and slugs are unique. Choose another one.',
    details: { slug: someText('garden', 'The taken slug.') },
  },
  ALREADY_A_MEMBER: { says: 'A user with this e-mail address is already a member.' },
  LAST_IDENTITY: {
    says: 'This is the only way to sign in to your account. Add another one first, or delete the account.',
  },
  UPLOAD_INCOMPLETE: {
    says: 'Parts are missing: 2, 3. Send them, then complete the upload again.',
    sometimes: {
      missing: {
        type: 'array',
        items: { type: 'integer' },
        description: 'Numbers of missing parts.',
        example: [2, 3],
      },
      missing_count: aNumber(2, 'How many are missing.'),
    },
  },
  CHECKSUM_MISMATCH: {
    says: 'Part 2 does not match its Content-MD5. Send it again.',
    sometimes: {
      part_number: aNumber(2, 'The number of the part.'),
      algorithm: someText('md5', 'The digest that differs.'),
      received: someText('9e107d9d372bb6826bd81d3542a419d6', 'The digest of the received bytes.'),
    },
  },
  UNAUTHENTICATED: { says: new Unauthenticated().message },
  PASSWORD_REQUIRED: { says: 'This link is protected. Send its password.' },
  FORBIDDEN: { says: new Forbidden().message },
  INSUFFICIENT_SCOPE: {
    says: 'This API key lacks the scope private_files:read. Use one that has it.',
    details: { required: someText('private_files:read', 'The missing scope.') },
  },
  KEY_OUT_OF_BOUNDS: {
    says: 'A private key works on the files of its user only. Use a key of the workspace or sign in.',
  },
  WRONG_PASSWORD: {
    says: 'This is not the password of this link. Check it and try again.',
  },
  TOO_MANY_ATTEMPTS: {
    says: 'Too many passwords were tried, so more are blocked for now. Try again in 60 seconds.',
    details: retryAfter(60),
  },
  SHARE_EXPIRED: { says: 'This link has expired. Ask its sender for a new one.' },
  SHARE_USED_UP: {
    says: 'This link has reached its limit of downloads. Ask its sender for a new one.',
  },
  SHARE_FULL: { says: shareFull().message },
  FILE_REQUEST_CLOSED: { says: requestClosed().message },
  FILE_REQUEST_FULL: { says: requestFull().message },
  FILE_REQUEST_NOT_FOUND: { says: requestNotFound().message },
  INVITE_EXPIRED: { says: 'This invite has expired. Ask for a new one.' },
  INVITE_NOT_FOR_YOU: {
    says: 'This invite is for another e-mail address. Sign in with the address that was invited.',
  },
  LAST_OWNER: {
    says: 'A workspace needs at least one owner. Make another member an owner first.',
    sometimes: {
      workspaces: {
        type: 'array',
        items: objectOf({
          workspace_id: { type: 'string', example: '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44' },
          name: { type: 'string', example: 'Garden' },
        }),
        description: 'The workspaces that would have no owner.',
      },
    },
  },
  FILE_NOT_FOUND: {
    says: 'There is no file "docs/report.pdf". Check its path.',
    sometimes: {
      ...path,
      file_id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id.'),
      checksum: someText('9e107d9d372bb6826bd81d3542a419d6', 'The checksum.'),
    },
  },
  FOLDER_NOT_FOUND: { says: 'There is no folder "docs". Check its path.', sometimes: path },
  SHARE_NOT_FOUND: {
    says: 'This link does not work: the share was revoked, or what it shared was deleted.',
  },
  TOKEN_NOT_FOUND: { says: 'This token does not work. Request a new one.' },
  UPLOAD_NOT_FOUND: {
    says: 'You have no such upload: it has ended, or never existed. Start another.',
  },
  COPY_NOT_FOUND: {
    says: 'You have no such copy. A copy is listed for a day after it has ended.',
  },
  SESSION_NOT_FOUND: {
    says: 'You have no such session. It may have expired; see the list.',
  },
  // GraphQL only.
  USER_NOT_FOUND: { says: 'There is no such user.' },
  API_KEY_NOT_FOUND: { says: 'There is no such API key.' },
  IDENTITY_NOT_FOUND: {
    says: 'Your account has no such identity.',
    details: { identity_id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id.') },
  },
  // In other places, a missing workspace is reported like an inaccessible one.
  WORKSPACE_NOT_FOUND: { says: 'There is no such workspace.' },
  MEMBER_NOT_FOUND: { says: 'This user is not a member of the workspace.' },
  INVITE_NOT_FOUND: {
    says: 'This invite does not exist, or it was used or withdrawn. Ask for a new one.',
  },
  FAVOURITE_NOT_FOUND: {
    says: 'You have no such favourite. Use an id from your list of favourites.',
    details: named,
  },
  TAG_NOT_FOUND: { says: 'There is no such tag here. Use an id from a list.', details: named },
  TRASH_ITEM_NOT_FOUND: {
    says: 'There is no such item in this trash. Use an id from its listing.',
    details: named,
  },
  VERSION_NOT_FOUND: {
    says: 'There is no such version here. Use an id from the versions of a file.',
    details: named,
  },
  // GraphQL only.
  WEBHOOK_NOT_FOUND: { says: 'There is no such webhook. Use an id of a listing.' },
  // GraphQL only.
  LOGIN_REQUEST_NOT_FOUND: { says: 'No program waits with this code. Start the login again.' },
  // GraphQL only.
  PLAN_IN_USE: { says: '3 accounts have this plan. Give them another plan first, or retire it.' },
  PATH_EXISTS: {
    says: 'Something named "docs/report.pdf" exists already. Choose another name, or delete or move it first.',
    details: path,
  },
  TAG_EXISTS: {
    says: 'There is a tag "Invoices" already; case and accents make no difference. Choose another name.',
    details: { name: someText('Invoices', 'The name.') },
  },
  CURSOR_EXPIRED: {
    says: 'The events after this cursor are no longer kept. Get a new cursor, read the files again, and continue from there.',
  },
  REVISION_MISMATCH: {
    says: 'This entry was changed meanwhile: its revision is 8. Read it again before you change it.',
    details: {
      revision: {
        ...aNumber(8, 'The present revision; null if the entry no longer exists.'),
        nullable: true,
      },
    },
  },
  UPLOAD_BUSY: {
    says: 'This upload is being completed. Try again in a moment.',
    details: retryAfter(2),
  },
  RATE_LIMITED: {
    says: 'This request is allowed 10 times in 60 seconds. Try again in 12 seconds.',
    details: {
      ...retryAfter(12),
      policy: someText('workspaces', 'What is counted.'),
      limit: aNumber(10, 'How many requests are allowed.'),
      window: aNumber(60, 'The length of the window in seconds.'),
    },
  },
  // Errors that belong to no route, or to every route.
  ROUTE_NOT_FOUND: { says: 'There is nothing at this URL.' },
  METHOD_NOT_ALLOWED: { says: 'This URL accepts only GET, HEAD.' },
  INTERNAL: { says: 'Something went wrong on our side. Tell the operator the request id.' },
  MAINTENANCE: {
    says: 'Changes are refused until 1 December 2026 at 10:00 UTC, because of maintenance. Reading goes on. Try again then.',
    details: {
      ...retryAfter(3600),
      until: { ...someText('2026-12-01T10:00:00.000Z', 'When it ends.'), format: 'date-time' },
    },
    sometimes: { note: someText('We move to a larger disk.', 'What the operator says about it.') },
  },
  UNAVAILABLE: { says: new Unavailable('database').message, details: retryAfter(5) },
  NO_SPACE: { says: new NoSpace('blob store').message, details: retryAfter(300) },
}

const allCodes = Object.keys(naturalStatus) as ErrorCode[]

/**
 * The codes that follow from a route's declaration: its callers, its inputs, and its rate limit.
 */
function impliedCodes(route: Route, method: Method): ErrorCode[] {
  const writes = method !== 'GET'
  const isRead = writes || Object.values(route.sources).some(source => source !== 'path')
  const implied: [ErrorCode, boolean][] = [
    ['INVALID_INPUT', !route.lenient && isRead],
    ['INVALID_JSON', !route.lenient && writes && route.body === 'json'],
    ['UNAUTHENTICATED', !route.public],
    // Cross-site writes are refused.
    ['FORBIDDEN', !route.public || writes],
    ['INSUFFICIENT_SCOPE', !route.public],
    ['KEY_OUT_OF_BOUNDS', !route.public],
    ['RATE_LIMITED', route.isLimited],
  ]
  return implied.flatMap(([code, applies]) => (applies ? [code] : []))
}

/**
 * The codes that a route can return with a status: first those with this natural status, then those
 * that are clamped to it.
 */
export function codesOf(route: Route, method: Method, status: number): ErrorCode[] {
  const possible = new Set([...impliedCodes(route, method), ...route.fails])
  const codes = allCodes.filter(
    code => possible.has(code) && clamp(naturalStatus[code], code, route.statuses) === status,
  )
  const natural = (code: ErrorCode) => naturalStatus[code] === status
  return [...codes.filter(natural), ...codes.filter(code => !natural(code))]
}

const saysMore = ({ details, sometimes }: Kind): boolean => Boolean(details ?? sometimes)

/** The machine-readable details of an error with one of these codes. */
export function detailsOf(codes: ErrorCode[]): SchemaOrRef {
  const plain = codes.filter(code => !saysMore(kinds[code]))
  const all: SchemaOrRef[] = [
    ...(plain.length > 0 ? [objectOf({ code: { type: 'string', enum: plain } })] : []),
    ...codes
      .filter(code => saysMore(kinds[code]))
      .map((code): Reference => ({ $ref: `#/components/schemas/${code}` })),
  ]
  const [only, second] = all
  return only && !second ? only : { oneOf: all }
}

/** The schema of each code that has further details. */
export const errorSchemas: Record<string, Schema> = Object.fromEntries(
  allCodes
    .filter(code => saysMore(kinds[code]))
    .map(code => {
      const { details = {}, sometimes = {} } = kinds[code]
      const schema = objectOf({ code: { type: 'string', enum: [code] }, ...details })
      return [code, { ...schema, properties: { ...schema.properties, ...sometimes } }]
    }),
)

/**
 * An example error of a route with this status.
 * @param codes the codes of the route; the example uses the first one
 * @param input an argument of the route that can be missing or duplicated; if given, the example
 * names it
 */
export function exampleError(
  status: number,
  codes: ErrorCode[],
  input?: { name: string; required: boolean },
): object {
  if (input && codes.includes('INVALID_INPUT')) {
    const msg = `"${input.name}" is ${input.required ? 'missing' : 'given more than once'}.`
    return { status, msg, response: { code: 'INVALID_INPUT', field: input.name } }
  }
  const [code] = codes
  if (!code) throw new TypeError(`Which code comes with ${status}?`)
  const { says, details = {} } = kinds[code]
  const shown = Object.entries(details).map(([name, schema]) => [name, schema.example])
  return { status, msg: says, response: { code, ...Object.fromEntries(shown) } }
}
