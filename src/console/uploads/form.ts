import { send } from '../../upload-engine/browser/send.ts'
import { TransferFailure } from '../../upload-engine/failure.ts'
import type { Attempt } from '../../upload-engine/job.ts'
import { refuseUnreadable } from './source.ts'
import { text } from './text.ts'

/**
 * Encodes a form as a browser would, except for file names: browsers write quotation marks as %22,
 * which would change the name. RFC 8187 encoding keeps them.
 */
function bodyOf(form: FormData): { body: Blob; type: string; files: Blob[] } {
  const boundary = `satchel-${Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16)).join('-')}`
  const files: Blob[] = []
  const pieces: BlobPart[] = []
  for (const [name, value] of form) {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`
    if (typeof value === 'string') pieces.push(`${head}\r\n\r\n${value}\r\n`)
    else {
      files.push(value)
      const encoded = encodeURIComponent(value.name.toWellFormed()).replace(
        /['()*!]/g,
        letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
      )
      const type = value.type ? `\r\ncontent-type: ${value.type}` : ''
      pieces.push(`${head}; filename*=UTF-8''${encoded}${type}\r\n\r\n`, value, '\r\n')
    }
  }
  pieces.push(`--${boundary}--\r\n`)
  return { body: new Blob(pieces), type: `multipart/form-data; boundary=${boundary}`, files }
}

/** A `fetch` for one form that reports how many bytes of its files were sent. */
export const sendForm =
  (attempt: Attempt): typeof fetch =>
  (url, { headers: given, body: form } = {}) => {
    const { signal } = attempt
    if (!(form instanceof FormData))
      return fetch(url, { headers: given, body: form, signal, method: 'POST' })
    const { body, type, files } = bodyOf(form)
    const headers = new Headers(given)
    headers.set('content-type', type)
    return send(
      {
        method: 'POST',
        url: String(url),
        headers,
        body,
        // The fields before the files are sent first.
        counted: files.reduce((sum, file) => sum + file.size, 0),
        failed: async () => {
          await Promise.all(files.map(refuseUnreadable))
          return new TransferFailure('UNREACHABLE', text('unreachable'), { sent: true })
        },
      },
      attempt,
    )
  }
