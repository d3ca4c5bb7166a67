import { GraphQLError, Kind } from 'graphql'
import { type FileUpload, Upload as MultipartUpload } from 'graphql-upload-minimal'
import { AppError } from '../src/errors.ts'
import { markUndecoded } from '../src/paths.ts'
import { AwaitedUpload, Upload } from '../src/upload.ts'
import { builder } from './builder.ts'

const asLong = (value: unknown): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new GraphQLError('A Long is a whole number between -(2^53 - 1) and 2^53 - 1.')
}

builder.scalarType('Long', {
  description: 'A whole number of up to 53 bits, as a JSON number: bytes, or a count.',
  serialize: asLong,
  parseValue: asLong,
  parseLiteral: node => asLong(node.kind === Kind.INT ? Number(node.value) : undefined),
})

builder.scalarType('Labels', {
  description: 'Names with values.',
  serialize: value => value as Record<string, string>,
  parseValue: () => {
    throw new GraphQLError('Labels go out, never in.')
  },
})

builder.scalarType('Void', {
  description: 'Nothing: always null. The answer of what is done when it is done.',
  serialize: () => null,
  parseValue: () => {
    throw new GraphQLError('A Void goes out, never in.')
  },
})

const asTime = (value: unknown): number => {
  const time = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time)) throw new GraphQLError('A DateTime is an RFC 3339 text, such as 2026-01-31T12:00:00.000Z.')
  return time
}

builder.scalarType('DateTime', {
  description: 'A time in UTC with milliseconds, as an RFC 3339 text.',
  // Milliseconds for a field; a string for a value that is serialized already.
  serialize: value => (typeof value === 'number' ? new Date(value).toISOString() : String(value)),
  parseValue: asTime,
  parseLiteral: node => asTime(node.kind === Kind.STRING ? node.value : undefined),
})

builder.scalarType('Upload', {
  description: 'A file of a multipart request (graphql-multipart-request-spec).',
  serialize: () => {
    throw new GraphQLError('An Upload goes in, never out.')
  },
  parseValue: value => {
    if (value instanceof Upload) return Promise.resolve(value)
    if (value instanceof MultipartUpload) {
      return new AwaitedUpload(() => value.promise.then(fromMultipart).catch(refuseIncomplete))
    }
    throw new GraphQLError('Send the file as a part of a multipart request.')
  },
})

function fromMultipart(file: FileUpload): Upload {
  return new Upload({
    // The types of the library do not tell that a part may lack a name.
    filename: markUndecoded(file.filename ?? ''),
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
  throw new AppError('INVALID_INPUT', 'The form is malformed or incomplete. Send it again.', { field: 'file' }, cause)
}
