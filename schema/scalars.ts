import { GraphQLError, Kind, type ValueNode } from 'graphql'
import { type FileUpload, Upload as MultipartUpload } from 'graphql-upload-minimal'
import { AppError } from '../src/runtime/errors.ts'
import { nameOfPart } from '../src/values/file-name.ts'
import { fromRfc3339 } from '../src/values/modified-at.ts'
import { AwaitedUpload, Upload } from '../src/values/upload.ts'

/** A whole number beyond the 32 bits of Int. */
const whole = (name: string, description: string) => {
  const parse = (value: unknown): number => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    throw new GraphQLError(`${name}: a whole number between -(2^53 - 1) and 2^53 - 1 is expected.`)
  }
  return {
    description,
    serialize: parse,
    parseValue: parse,
    parseLiteral: (node: ValueNode) =>
      parse(node.kind === Kind.INT ? Number(node.value) : undefined),
  }
}

const textOf = (node: ValueNode): unknown => (node.kind === Kind.STRING ? node.value : undefined)

const asUrl = (value: unknown): string => {
  if (typeof value === 'string' && URL.canParse(value)) return value
  throw new GraphQLError('A URL must be absolute, such as https://example.com/a.')
}

const asTime = (value: unknown): number => {
  const time = fromRfc3339(value)
  if (Number.isNaN(time))
    throw new GraphQLError(
      'A DateTime must be an RFC 3339 string, such as 2026-01-31T12:00:00.000Z.',
    )
  return time
}

let latest = { time: 0, text: new Date(0).toISOString() }

/**
 * Most listed entries were created and last changed at the same time, and formatting times takes a
 * tenth of the time of a page.
 */
function textOfTime(time: number): string {
  if (time !== latest.time) latest = { time, text: new Date(time).toISOString() }
  return latest.text
}

const outputOnly = (name: string) => () => {
  throw new GraphQLError(`${name} are for output only.`)
}

/** The parsers and serializers of the scalars of both schemas. */
export const scalars = {
  Long: whole('Long', 'A whole number of up to 53 bits, as a JSON number: bytes, or a count.'),
  Bytes: whole('Bytes', 'A whole number of bytes of up to 53 bits, as a JSON number.'),
  URL: {
    description: 'An absolute URL.',
    serialize: String,
    parseValue: asUrl,
    parseLiteral: (node: ValueNode) => asUrl(textOf(node)),
  },
  Labels: {
    description: 'Names with values.',
    serialize: (value: unknown) => value as Record<string, string>,
    parseValue: outputOnly('Labels'),
  },
  Figures: {
    description:
      'A list of numbers as JSON, with null for missing ones. It counts as one value, because a chart needs thousands of numbers.',
    serialize: (value: unknown) => value as readonly (number | null)[],
    parseValue: outputOnly('Figures'),
  },
  Void: {
    description: 'Always null. The answer of operations that return no data.',
    serialize: () => null,
    parseValue: outputOnly('Voids'),
  },
  DateTime: {
    description: 'A time in UTC with milliseconds, as an RFC 3339 string.',
    // Milliseconds for a field; a string for a value that is already serialized.
    serialize: (value: unknown) => (typeof value === 'number' ? textOfTime(value) : String(value)),
    parseValue: asTime,
    parseLiteral: (node: ValueNode) => asTime(textOf(node)),
  },
  Upload: {
    description: 'A file of a multipart request (graphql-multipart-request-spec).',
    serialize: () => {
      throw new GraphQLError('Upload is for input only.')
    },
    parseValue: (value: unknown) => {
      if (value instanceof Upload) return Promise.resolve(value)
      if (value instanceof MultipartUpload) {
        return new AwaitedUpload(() => value.promise.then(fromMultipart).catch(refuseIncomplete))
      }
      throw new GraphQLError('Send the file as a part of a multipart request.')
    },
  },
}

function fromMultipart(file: FileUpload): Upload {
  return new Upload({
    // A part may lack a name, which the types of the library do not show.
    filename: nameOfPart(file.filename ?? ''),
    mimetype: file.mimetype,
    source: wholeOf(file.createReadStream()),
  })
}

async function* wholeOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    refuseIncomplete(error)
  }
}

function refuseIncomplete(cause: unknown): never {
  if (cause instanceof AppError) throw cause
  throw new AppError(
    'INVALID_INPUT',
    'The form is malformed or incomplete. Send it again.',
    { field: 'file' },
    cause,
  )
}
