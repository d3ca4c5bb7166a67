import type { Attempt } from '../job.ts'

interface Sent {
  method: string
  url: string
  headers: Iterable<readonly [name: string, value: string]>
  body: Blob
  /** How many bytes of the body count as progress, from its end; all of them by default. */
  counted?: number
  /** Makes the error for a request without a response. */
  failed: () => Error | Promise<Error>
}

/**
 * Sends one request like `fetch`, but reports how many bytes were sent. The response has the
 * headers `content-type` and `retry-after`.
 */
export function send(
  { method, url, headers, body, counted = body.size, failed }: Sent,
  { signal, sent }: Attempt,
): Promise<Response> {
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
    request.upload.onprogress = ({ loaded }) => accept(Math.max(0, loaded - (body.size - counted)))
    request.upload.onload = () => accept(counted)
    request.onload = () => resolve(responseOf(request))
    request.onerror = () => void Promise.resolve(failed()).then(reject, reject)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    request.open(method, url)
    for (const [name, value] of headers) request.setRequestHeader(name, value)
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
