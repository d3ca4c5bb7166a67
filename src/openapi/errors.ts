import type { Method } from '../../schema/plugins/rest.ts'
import { tooManyAttempts } from '../access/guessing.ts'
import { privateKeyOnly, privateScopes, scopeMissing } from '../access/scopes.ts'
import { notJson } from '../http/body.ts'
import { clamp } from '../http/envelope.ts'
import { methodNotAllowed } from '../http/method.ts'
import { nothingHere } from '../http/threshold.ts'
import type { Route } from '../rest/routes.ts'
import {
  type ErrorCode,
  Forbidden,
  internalError,
  NoSpace,
  naturalStatus,
  Unauthenticated,
  Unavailable,
} from '../runtime/errors.ts'
import { keyNotFound, unknownScope } from '../services/accounts/api-key.ts'
import { userNotFound } from '../services/accounts/appointment.ts'
import { favouriteNotFound } from '../services/accounts/favourite.ts'
import { identityNotFound, lastIdentity } from '../services/accounts/identity.ts'
import { loginRequestNotFound } from '../services/accounts/login-request.ts'
import { planInUse } from '../services/accounts/plan.ts'
import { proofNeeded } from '../services/accounts/proof.ts'
import { sessionNotFound } from '../services/accounts/session.ts'
import { planExceeded, shareFull } from '../services/bound.ts'
import { cursorExpired } from '../services/history/event-feed.ts'
import { UnderMaintenance } from '../services/maintenance.ts'
import { webhookNotFound } from '../services/notices/webhook.ts'
import { rateLimited } from '../services/rate-limit.ts'
import { tokenNotFound } from '../services/sharing/download.ts'
import {
  requestClosed,
  requestFull,
  requestNotFound,
} from '../services/sharing/file-request-term.ts'
import { passwordRequired, wrongPassword } from '../services/sharing/link-password.ts'
import { shareExpired, shareNotFound } from '../services/sharing/share-link.ts'
import { usedUp } from '../services/sharing/share-use.ts'
import { copyNotFound } from '../services/tree/background-copy.ts'
import { lockNotFound } from '../services/tree/dav-lock.ts'
import { pathExists } from '../services/tree/entry.ts'
import { fileNotFound, folderNotFound } from '../services/tree/entry-path.ts'
import { folderNotEmpty } from '../services/tree/entry-removal.ts'
import { fileTooLarge } from '../services/tree/quota.ts'
import { revisionMismatch } from '../services/tree/revision.ts'
import { tagExists, tagNotFound } from '../services/tree/tag.ts'
import { trashItemNotFound } from '../services/tree/trash-item.ts'
import { versionNotFound } from '../services/tree/version.ts'
import {
  partDiffers,
  partsMissing,
  uploadBusy,
  uploadNotFound,
} from '../services/uploads/upload-error.ts'
import {
  addressIsMember,
  inviteExpired,
  inviteNotForYou,
  inviteNotFound,
} from '../services/workspaces/invite.ts'
import { lastOwner, memberNotFound } from '../services/workspaces/member.ts'
import { slugTaken, workspaceNotFound } from '../services/workspaces/workspace.ts'
import { invalidDuration } from '../values/duration.ts'
import { invalidMode } from '../values/media.ts'
import { dotsRefused } from '../values/paths.ts'
import { objectOf, type Reference, type Schema, type SchemaOrRef } from './schema.ts'

const ID = '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44'
const MAINTAINED_UNTIL = Date.UTC(2026, 11, 1, 10)

interface Kind {
  /** An example message, from the function that the service throws it with. */
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
    says: notJson().message,
    details: field('body'),
  },
  INVALID_PATH: {
    says: dotsRefused('path').message,
    details: field('path'),
  },
  INVALID_DURATION: {
    says: invalidDuration('duration').message,
    details: field('duration'),
  },
  INVALID_MODE: { says: invalidMode().message, details: field('mode') },
  INVALID_SCOPE: {
    says: unknownScope('files:read', privateScopes).message,
    details: field('scopes'),
  },
  FOLDER_NOT_EMPTY: {
    says: folderNotEmpty('docs', { files: 12, folders: 3 }).message,
    details: {
      files: aNumber(12, 'Number of files in it, at any depth.'),
      folders: aNumber(3, 'Number of folders in it, at any depth.'),
    },
  },
  FILE_TOO_LARGE: {
    says: fileTooLarge({ maxFileSizeBytes: 2_147_483_648 }).message,
    // Editors of a share do not see the limits of its owner.
    sometimes: limit('max_file_size_bytes', 2_147_483_648),
  },
  QUOTA_EXCEEDED: {
    says: planExceeded('files', { limit: 'max_files', max: 10_000, used: 10_000 }).message,
    details: { ...limit('max_files', 10_000), used: aNumber(10_000, 'How much of it is used.') },
  },
  SLUG_TAKEN: {
    says: slugTaken('garden').message,
    details: { slug: someText('garden', 'The taken slug.') },
  },
  ALREADY_A_MEMBER: { says: addressIsMember().message },
  LAST_IDENTITY: {
    says: lastIdentity().message,
  },
  UPLOAD_INCOMPLETE: {
    says: partsMissing([2, 3]).message,
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
    says: partDiffers(2).message,
    sometimes: {
      part_number: aNumber(2, 'The number of the part.'),
      algorithm: someText('md5', 'The digest that differs.'),
      received: someText('9e107d9d372bb6826bd81d3542a419d6', 'The digest of the received bytes.'),
    },
  },
  UNAUTHENTICATED: { says: new Unauthenticated().message },
  PASSWORD_REQUIRED: { says: passwordRequired().message },
  FORBIDDEN: { says: new Forbidden().message },
  INSUFFICIENT_SCOPE: {
    says: scopeMissing('private_files:read').message,
    details: { required: someText('private_files:read', 'The missing scope.') },
  },
  KEY_OUT_OF_BOUNDS: {
    says: privateKeyOnly().message,
  },
  WRONG_PASSWORD: {
    says: wrongPassword().message,
  },
  TOO_MANY_ATTEMPTS: {
    says: tooManyAttempts(60).message,
    details: retryAfter(60),
  },
  SHARE_EXPIRED: { says: shareExpired().message },
  SHARE_USED_UP: {
    says: usedUp().message,
  },
  SHARE_FULL: { says: shareFull().message },
  FILE_REQUEST_CLOSED: { says: requestClosed().message },
  FILE_REQUEST_FULL: { says: requestFull().message },
  FILE_REQUEST_NOT_FOUND: { says: requestNotFound().message },
  INVITE_EXPIRED: { says: inviteExpired().message },
  INVITE_NOT_FOR_YOU: {
    says: inviteNotForYou().message,
  },
  PROOF_NEEDED: {
    says: proofNeeded('https://files.example.com').message,
    details: {
      url: someText(
        'https://files.example.com/account/confirm',
        'The page that asks for the proof.',
      ),
    },
  },
  LAST_OWNER: {
    says: lastOwner().message,
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
    says: fileNotFound({}, ['docs', 'report.pdf']).message,
    sometimes: {
      ...path,
      file_id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id.'),
      checksum: someText('9e107d9d372bb6826bd81d3542a419d6', 'The checksum.'),
    },
  },
  FOLDER_NOT_FOUND: { says: folderNotFound({}, ['docs']).message, sometimes: path },
  SHARE_NOT_FOUND: {
    says: shareNotFound().message,
  },
  TOKEN_NOT_FOUND: { says: tokenNotFound().message },
  UPLOAD_NOT_FOUND: {
    says: uploadNotFound().message,
  },
  COPY_NOT_FOUND: {
    says: copyNotFound().message,
  },
  SESSION_NOT_FOUND: {
    says: sessionNotFound().message,
  },
  // GraphQL only.
  USER_NOT_FOUND: { says: userNotFound().message },
  API_KEY_NOT_FOUND: { says: keyNotFound().message },
  IDENTITY_NOT_FOUND: {
    says: identityNotFound(ID).message,
    details: { identity_id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id.') },
  },
  // In other places, a missing workspace is reported like an inaccessible one.
  WORKSPACE_NOT_FOUND: { says: workspaceNotFound().message },
  MEMBER_NOT_FOUND: { says: memberNotFound().message },
  INVITE_NOT_FOUND: {
    says: inviteNotFound().message,
  },
  FAVOURITE_NOT_FOUND: {
    says: favouriteNotFound(ID).message,
    details: named,
  },
  TAG_NOT_FOUND: { says: tagNotFound(ID).message, details: named },
  TRASH_ITEM_NOT_FOUND: {
    says: trashItemNotFound(ID).message,
    details: named,
  },
  VERSION_NOT_FOUND: {
    says: versionNotFound(ID).message,
    details: named,
  },
  // GraphQL only.
  LOCK_NOT_FOUND: { says: lockNotFound(ID).message },
  // GraphQL only.
  WEBHOOK_NOT_FOUND: { says: webhookNotFound().message },
  // GraphQL only.
  LOGIN_REQUEST_NOT_FOUND: { says: loginRequestNotFound().message },
  // GraphQL only.
  PLAN_IN_USE: { says: planInUse(ID, 3).message },
  PATH_EXISTS: {
    says: pathExists({}, ['docs', 'report.pdf']).message,
    details: path,
  },
  TAG_EXISTS: {
    says: tagExists('Invoices').message,
    details: { name: someText('Invoices', 'The name.') },
  },
  CURSOR_EXPIRED: {
    says: cursorExpired().message,
  },
  REVISION_MISMATCH: {
    says: revisionMismatch({ revision: 8 }).message,
    details: {
      revision: {
        ...aNumber(8, 'The present revision; null if the entry no longer exists.'),
        nullable: true,
      },
    },
  },
  UPLOAD_BUSY: {
    says: uploadBusy().message,
    details: retryAfter(2),
  },
  RATE_LIMITED: {
    says: rateLimited('workspaces', { max: 10, seconds: 60 }, 12).message,
    details: {
      ...retryAfter(12),
      policy: someText('workspaces', 'What is counted.'),
      limit: aNumber(10, 'How many requests are allowed.'),
      window: aNumber(60, 'The length of the window in seconds.'),
    },
  },
  // Errors that belong to no route, or to every route.
  ROUTE_NOT_FOUND: { says: nothingHere().message },
  METHOD_NOT_ALLOWED: { says: methodNotAllowed(['GET', 'HEAD']).message },
  INTERNAL: { says: internalError().message },
  MAINTENANCE: {
    says: new UnderMaintenance({ startedAt: 0, endsAt: MAINTAINED_UNTIL, message: '' }).message,
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
 * An example error with this status.
 * @param codes the possible codes; the example uses the first one
 */
export function exampleError(status: number, codes: ErrorCode[]): object {
  const [code] = codes
  if (!code) throw new TypeError(`Which code comes with ${status}?`)
  const { says, details = {} } = kinds[code]
  const shown = Object.entries(details).map(([name, schema]) => [name, schema.example])
  return { status, msg: says, response: { code, ...Object.fromEntries(shown) } }
}
