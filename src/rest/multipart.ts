import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { searchNatively } from '../http/boundary.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { excerpt } from '../values/excerpt.ts'
import { nameOfPart } from '../values/file-name.ts'
import { fromRfc3339 } from '../values/modified-at.ts'
import { markUndecoded } from '../values/paths.ts'
import { Upload, type UploadFields } from '../values/upload.ts'

/** A form whose file is arriving. */
export interface MultipartForm {
  /** The values so far: the file, and the fields before it. */
  values: { file: Upload } & Fields
  /** Settles when the whole form has been read. */
  finished: Promise<void>
  /** Stops reading. Call it when the response has been sent. */
  close(): void
}

const MAX_FIELD_BYTES = 8 * 1024

/** The fields that a form may have besides its file. */
const fieldNames = ['folder', 'modified_at', 'on_conflict'] as const
type Fields = Partial<Record<(typeof fieldNames)[number], string>>

const placeOf = ({ folder, on_conflict: onConflict, modified_at: time }: Fields): UploadFields => ({
  folder,
  onConflict,
  // Invalid times are refused together with all other file times.
  modifiedAt: time ? fromRfc3339(time) : null,
})

const isField = (name: string): name is keyof Fields => fieldNames.some(field => field === name)

/**
 * Reads the form of an upload up to the first byte of its file. Fields may come before or after the
 * file, because browsers send `file` before `folder`.
 * @throws INVALID_INPUT that names the invalid part of the form
 */
export function readMultipart(req: IncomingMessage, signal: AbortSignal): Promise<MultipartForm> {
  const length = Number(req.headers['content-length'])
  let parser: busboy.Busboy
  try {
    // The library would accept URL-encoded forms, too.
    if (!/^multipart\/form-data\s*;/i.test(req.headers['content-type'] ?? ''))
      throw new Error('The content type is not multipart/form-data.')
    parser = busboy({
      headers: req.headers,
      defParamCharset: 'utf8',
      // An encoded name may contain slashes.
      preservePath: true,
      limits: { files: 2, fields: 8, parts: 10, fieldSize: MAX_FIELD_BYTES },
    })
    searchNatively(parser)
  } catch (error) {
    return Promise.reject(
      wrong(
        'content-type',
        'Send a form: Content-Type: multipart/form-data, with a boundary.',
        error,
      ),
    )
  }

  return new Promise((resolve, reject) => {
    let file: Readable | undefined
    const fields: Fields = {}
    let isPlaced = false
    let problem: AppError | undefined
    let done = false
    const finished = Promise.withResolvers<void>()
    finished.promise.catch(() => {})

    const fail = (error: AppError) => {
      if (done) return
      done = true
      problem = error
      req.unpipe(parser)
      file?.destroy(error)
      finished.reject(error)
      reject(error)
    }

    parser.on('file', (name, stream, info) => {
      // A stream without a reader must not throw.
      stream.on('error', () => {})
      if (name !== 'file' || file) {
        stream.resume()
        return fail(
          wrong(
            name || 'file',
            file
              ? 'Send one file per request.'
              : `${named(name)} is not a file field; send the file as "file".`,
          ),
        )
      }
      if (!info.filename) {
        stream.resume()
        return fail(wrong('file', 'The part "file" needs a file name.'))
      }
      file = stream
      isPlaced = fields.folder !== undefined
      const upload = new Upload({
        filename: nameOfPart(info.filename),
        mimetype: info.mimeType,
        source: wholeOf(stream, finished.promise, () => problem),
        ...(Number.isSafeInteger(length) ? { bound: length } : {}),
        signal,
        ...(isPlaced
          ? {}
          : { fieldsAfterwards: () => finished.promise.then(() => placeOf(fields)) }),
      })
      resolve({
        values: { file: upload, ...fields },
        finished: finished.promise,
        close: () => {
          req.unpipe(parser)
          if (!done) parser.destroy()
        },
      })
    })
    parser.on('field', (name, value, info) => {
      if (name === 'file') return fail(wrong(name, 'The part "file" needs a file name.'))
      if (!isField(name))
        return fail(
          wrong(
            name || 'folder',
            `${named(name)} is not known here. Known fields: file, ${fieldNames.join(', ')}.`,
          ),
        )
      // Contrary to its types, the library passes undefined for values that it cannot decode.
      if (typeof value !== 'string')
        return fail(wrong(name, `The charset of "${name}" is unknown. Send it as UTF-8.`))
      if (fields[name] !== undefined) return fail(wrong(name, `"${name}" was sent more than once.`))
      if (info.valueTruncated)
        return fail(wrong(name, `"${name}" may have up to ${MAX_FIELD_BYTES} bytes.`))
      // Once the folder is known, the target is complete, and an existing file is refused before
      // its bytes are read.
      if (isPlaced)
        return fail(
          wrong(name, `Send "${name}" before "file", or after it together with "folder".`),
        )
      fields[name] = markUndecoded(value)
    })
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
      parser.on(limit, () =>
        fail(
          wrong('file', 'The form has too many parts. Send one file and, if needed, its folder.'),
        ),
      )
    parser.on('error', error => fail(incomplete(error)))
    parser.on('close', () => {
      if (done) return
      if (!file)
        return fail(wrong('file', '"file" is missing: send the file as a part of the form.'))
      done = true
      finished.resolve()
    })
    const broken = (error?: Error) =>
      fail(wrong('file', 'The connection broke before the file was complete.', error))
    // A closed request emits no further events.
    if (req.destroyed) return broken()
    req.on('aborted', broken)
    req.on('error', broken)
    signal.addEventListener('abort', () =>
      fail(signal.reason instanceof AppError ? signal.reason : incomplete(signal.reason)),
    )
    req.pipe(parser)
  })
}

/** The bytes of a part. An incomplete part ends with an error, never silently. */
async function* wholeOf(
  stream: Readable,
  finished: Promise<void>,
  problem: () => AppError | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array
  } catch (error) {
    throw problem() ?? incomplete(error)
  }
  // The parts after the file may still be invalid, and then the whole form is refused.
  await finished
}

/** The error for a form that ends before its file does. */
const incomplete = (cause: unknown): AppError =>
  wrong('file', 'The form is malformed or incomplete. Send it again.', cause)

const named = (part: string | undefined): string =>
  part ? `A part "${excerpt(part)}"` : 'A part without a name'

function wrong(field: string, message: string, cause?: unknown): AppError {
  return cause === undefined
    ? new InvalidInput(excerpt(field), message)
    : new AppError('INVALID_INPUT', message, { field: excerpt(field) }, cause)
}
