import { type ErrorCode, Forbidden, naturalStatus, Unauthenticated, Unavailable } from '../errors.ts'
import { clamp } from './envelope.ts'
import {
  adds,
  both,
  either,
  files,
  invites,
  isRead,
  knowsCaller,
  links,
  never,
  opensShare,
  places,
  type RouteFacts,
  type Rule,
  takes,
  takesFile,
  under,
  uploads,
  writes,
} from './openapi-rules.ts'
import { objectOf, type Reference, type Schema, type SchemaOrRef } from './openapi-schema.ts'

interface Kind {
  /** Which routes it can come from. */
  from: Rule
  /** An example of its message. */
  says: string
  /** Its details beside the code: those that are always there, and optional ones; each with an example. */
  details?: Record<string, Schema>
  sometimes?: Record<string, Schema>
}

const someText = (example: string, description: string): Schema => ({ type: 'string', description, example })
const aNumber = (example: number, description: string): Schema => ({
  type: 'integer',
  format: 'int64',
  description,
  example,
})
const field = (example: string) => ({ field: someText(example, 'The input that is wrong.') })
const path = { path: someText('docs/report.pdf', 'The path that it is about.') }
const retryAfter = (example: number) => ({
  retry_after: aNumber(example, 'Seconds after which trying again makes sense.'),
})
const limit = (example: string, max: number) => ({
  limit: someText(example, 'The limit that was met.'),
  max: aNumber(max, 'What that limit allows.'),
})

const removesIdentity = both(under(/\/identities$/), takes('identity_id'))

/**
 * Everything about the codes of errors. Their rules are wide rather than narrow: a client may rely on no other code coming, so a rule
 * leaves out only what a route has no input or no subject for.
 */
const kinds: Record<ErrorCode, Kind> = {
  INVALID_INPUT: {
    from: isRead,
    says: '"name" is missing.',
    details: field('name'),
    sometimes: { max: aNumber(1_048_576, 'What is allowed, where it is too much.') },
  },
  INVALID_JSON: {
    from: both(writes, route => !route.takesFile),
    says: 'The body is not valid JSON in UTF-8. Check its syntax and its encoding.',
    details: field('body'),
  },
  INVALID_PATH: {
    from: takes(...places, 'file', 'files', 'object', 'objects', 'source'),
    says: 'The names . and .. are not allowed: write the full path from the top folder.',
    details: field('path'),
  },
  INVALID_DURATION: {
    from: takes('duration', 'expires_in'),
    says: 'Give a duration as a whole number and a unit without a space, such as 7d.',
    details: field('duration'),
  },
  INVALID_MODE: {
    from: takes('mode'),
    says: 'The mode must be download or inline.',
    details: field('mode'),
  },
  INVALID_SCOPE: {
    from: takes('scopes'),
    says: 'There is no scope "files:read" for this kind of key.',
    details: field('scopes'),
  },
  FOLDER_NOT_EMPTY: {
    from: takes('recursive'),
    says: 'The folder "docs" is not empty. Empty it first, or delete it with recursive=true.',
    details: { files: aNumber(12, 'Files in it, however deep.'), folders: aNumber(3, 'Folders in it, however deep.') },
  },
  FILE_TOO_LARGE: {
    from: both(adds, under(/\/uploads?(\/|$)/)),
    says: 'A file may have up to 2147483648 bytes. Send a smaller file, or ask for a larger plan.',
    details: limit('max_file_size_bytes', 2_147_483_648),
  },
  QUOTA_EXCEEDED: {
    from: both(adds, under(/\/(uploads?|folders?|move|mkdir|create|accept|quick_share|note)(\/|$)/)),
    says: 'The plan allows 10000 files. Delete some, or ask for a larger plan.',
    details: { ...limit('max_files', 10_000), used: aNumber(10_000, 'What of it is used.') },
  },
  SLUG_TAKEN: {
    from: takes('slug'),
    says: 'The slug "garden" belongs to another workspace, and slugs are unique. Choose another one.',
    details: { slug: someText('garden', 'The slug that is taken.') },
  },
  ALREADY_A_MEMBER: { from: invites, says: 'A user with this e-mail address is a member already.' },
  LAST_IDENTITY: {
    from: removesIdentity,
    says: 'This is the only way to sign in to your account. Add another one first, or delete the account.',
  },
  UPLOAD_INCOMPLETE: {
    from: under(/\/(parts|complete)(\/|$)/),
    says: 'Parts are missing: 2, 3. Send them, then complete the upload again.',
    sometimes: {
      missing: { type: 'array', items: { type: 'integer' }, description: 'Numbers of missing parts.', example: [2, 3] },
      missing_count: aNumber(2, 'How many are missing.'),
    },
  },
  CHECKSUM_MISMATCH: {
    from: under(/\/(parts|complete)(\/|$)/),
    says: 'Part 2 does not match its Content-MD5. Send it again.',
    sometimes: {
      part_number: aNumber(2, 'The part that it is about.'),
      algorithm: someText('md5', 'The digest that differs.'),
      received: someText('9e107d9d372bb6826bd81d3542a419d6', 'The digest of what has arrived.'),
    },
  },
  UNAUTHENTICATED: { from: knowsCaller, says: new Unauthenticated().message },
  PASSWORD_REQUIRED: { from: opensShare, says: 'This link is protected. Send its password.' },
  FORBIDDEN: { from: either(writes, knowsCaller), says: new Forbidden().message },
  INSUFFICIENT_SCOPE: {
    from: knowsCaller,
    says: 'This API key lacks the scope private_files:read. Use one that has it.',
    details: { required: someText('private_files:read', 'The scope that is missing.') },
  },
  KEY_OUT_OF_BOUNDS: {
    from: knowsCaller,
    says: 'A private key works on the files of its user only. Use a key of the workspace or sign in.',
  },
  WRONG_PASSWORD: {
    from: opensShare,
    says: 'This is not the password of this link. Check it and try again.',
  },
  TOO_MANY_ATTEMPTS: {
    from: opensShare,
    says: 'Too many passwords were tried, so more are blocked for now. Try again in 60 seconds.',
    details: retryAfter(60),
  },
  SHARE_EXPIRED: { from: links, says: 'This link has expired. Ask its sender for a new one.' },
  SHARE_USED_UP: {
    from: both(links, ({ public: open }) => open),
    says: 'This link has reached its limit of downloads. Ask its sender for a new one.',
  },
  INVITE_EXPIRED: { from: invites, says: 'This invite has expired. Ask for a new one.' },
  INVITE_NOT_FOR_YOU: {
    from: invites,
    says: 'This invite is for another e-mail address. Sign in with the address that was invited.',
  },
  LAST_OWNER: {
    from: under(/\/(members|account)(\/|$)/),
    says: 'A workspace keeps at least one owner. Make another member an owner first.',
    sometimes: {
      workspaces: {
        type: 'array',
        items: objectOf({
          workspace_id: { type: 'string', example: '6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44' },
          name: { type: 'string', example: 'Garden' },
        }),
        description: 'Those that would be without an owner.',
      },
    },
  },
  FILE_NOT_FOUND: {
    from: files,
    says: 'There is no file "docs/report.pdf". Check its path.',
    sometimes: {
      ...path,
      file_id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id that it is about.'),
      checksum: someText('9e107d9d372bb6826bd81d3542a419d6', 'The checksum that it is about.'),
    },
  },
  FOLDER_NOT_FOUND: { from: files, says: 'There is no folder "docs". Check its path.', sometimes: path },
  SHARE_NOT_FOUND: {
    from: either(both(links, under(/^(?!\/api\/d\/private)/)), under(/\/received\//)),
    says: 'This link does not work: the share was revoked, or the file was deleted.',
  },
  TOKEN_NOT_FOUND: { from: under(/^\/api\/d\//), says: 'This token does not work. Request a new one.' },
  UPLOAD_NOT_FOUND: {
    from: uploads,
    says: 'You have no such upload: it has ended, or never existed. Start another.',
  },
  SESSION_NOT_FOUND: {
    from: under(/\/sessions(\/|$)/),
    says: 'You have no such session. It may have expired; see the list.',
  },
  // GraphQL only.
  USER_NOT_FOUND: { from: never, says: 'There is no such user.' },
  API_KEY_NOT_FOUND: { from: under(/\/api_keys(\/|$)/), says: 'There is no such API key.' },
  IDENTITY_NOT_FOUND: {
    from: removesIdentity,
    says: 'Your account has no such identity.',
    details: { identity_id: someText('6f1c2b52-7d0e-4a58-9d3b-0c9f5e1a7b44', 'The id that it is about.') },
  },
  // Elsewhere a workspace that does not exist is one that the caller may not see.
  WORKSPACE_NOT_FOUND: { from: under(/\/workspaces\/delete$/), says: 'There is no such workspace.' },
  MEMBER_NOT_FOUND: { from: under(/\/members(\/|$)/), says: 'This user is not a member of the workspace.' },
  INVITE_NOT_FOUND: {
    from: invites,
    says: 'This invite does not exist, or it was used or withdrawn. Ask for a new one.',
  },
  PATH_EXISTS: {
    from: both(adds, either(takesFile, takes(...places))),
    says: 'Something named "docs/report.pdf" exists already. Choose another name, or delete or move it first.',
    details: path,
  },
  UPLOAD_BUSY: {
    from: under(/\/(parts|complete)(\/|$)/),
    says: 'This upload is being completed. Try again in a moment.',
    details: retryAfter(2),
  },
  RATE_LIMITED: {
    from: ({ isLimited }) => isLimited,
    says: 'This is allowed 10 times in 60 seconds. Try again in 12 seconds.',
    details: {
      ...retryAfter(12),
      policy: someText('workspaces', 'What is counted.'),
      limit: aNumber(10, 'How often it is allowed.'),
      window: aNumber(60, 'In how many seconds.'),
    },
  },
  // These come from no route, or from any.
  ROUTE_NOT_FOUND: { from: never, says: 'There is nothing at this URL.' },
  METHOD_NOT_ALLOWED: { from: never, says: 'This address takes GET, HEAD.' },
  INTERNAL: { from: never, says: 'Something went wrong on our side. Tell the operator the request id.' },
  UNAVAILABLE: { from: never, says: new Unavailable('database').message, details: retryAfter(5) },
}

const allCodes = Object.keys(naturalStatus) as ErrorCode[]

/** The codes that a route can answer with a status: those that are naturally its own first, then those that are clamped to it. */
export function codesOf(route: RouteFacts, status: number): ErrorCode[] {
  const natural = (code: ErrorCode) => naturalStatus[code] === status
  // A route without a 400 interprets invalid input as well as it can.
  const lenient = !route.statuses.includes(400)
  const leading = allCodes.filter(code => clamp(naturalStatus[code], code, route.statuses) === status)
  const possible = leading.filter(code => kinds[code].from(route) && !(lenient && naturalStatus[code] === 400))
  // A status that the route lists comes from somewhere, whatever the rules say.
  const codes = possible.length > 0 ? possible : leading.filter(natural)
  return [...codes.filter(natural), ...codes.filter(code => !natural(code))]
}

const saysMore = ({ details, sometimes }: Kind): boolean => Boolean(details ?? sometimes)

/** What an error says for programs, when it has one of these codes. */
export function detailsOf(codes: ErrorCode[]): SchemaOrRef {
  const plain = codes.filter(code => !saysMore(kinds[code]))
  const all: SchemaOrRef[] = [
    ...(plain.length > 0 ? [objectOf({ code: { type: 'string', enum: plain } })] : []),
    ...codes.filter(code => saysMore(kinds[code])).map((code): Reference => ({ $ref: `#/components/schemas/${code}` })),
  ]
  const [only, second] = all
  return only && !second ? only : { oneOf: all }
}

/** What each of those codes comes with that says more than itself. */
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
 * One of the errors that a route answers with a status.
 * @param codes those of the route, of which the first is shown
 * @param input an argument of the route that can be missing, or given twice: where there is one, that is shown
 */
export function exampleError(status: number, codes: ErrorCode[], input?: { name: string; required: boolean }): object {
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
