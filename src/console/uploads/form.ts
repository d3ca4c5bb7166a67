import { TransferFailure } from '../../upload-engine/failure.ts'
import type { Attempt } from '../../upload-engine/job.ts'
import { refuseUnreadable } from './source.ts'
import { text } from './text.ts'

/**
 * A form as a browser sends it, but for the names of files: a browser writes a quotation mark in them as %22, so that the name would
 * change. RFC 8187 keeps them.
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

/** A `fetch` for one form that tells how many bytes of its files have been sent, which `fetch` itself does not. */
export const sendForm =
  ({ signal, sent }: Attempt): typeof fetch =>
  (url, { headers, body: form } = {}) => {
    if (!(form instanceof FormData)) return fetch(url, { headers, body: form, signal, method: 'POST' })
    const { body, type, files } = bodyOf(form)
    const size = files.reduce((sum, file) => sum + file.size, 0)
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      const abort = () => {
        request.abort()
        reject(signal.reason)
      }
      let accepted = 0
      const accept = (count: number) => {
        sent(count - accepted)
        accepted = count
      }
      // What comes before the files is sent first, and is not counted.
      request.upload.onprogress = ({ loaded }) => accept(Math.max(0, loaded - (body.size - size)))
      request.upload.onload = () => accept(size)
      request.onload = () => resolve(responseOf(request))
      request.onerror = () =>
        Promise.all(files.map(refuseUnreadable)).then(
          () => reject(new TransferFailure('UNREACHABLE', text('unreachable'), { sent: true })),
          reject,
        )
      request.onloadend = () => signal.removeEventListener('abort', abort)
      request.open('POST', String(url))
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
      request.setRequestHeader('content-type', type)
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort)
      request.send(body)
    })
  }

function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers()
  for (const name of ['content-type', 'retry-after']) {
    const value = request.getResponseHeader(name)
    if (value !== null) headers.set(name, value)
  }
  return new Response(request.responseText, { status: request.status, headers })
}
