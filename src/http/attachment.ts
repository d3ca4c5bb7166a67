import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Log } from '../runtime/log.ts'
import type { Attachment } from '../services/accounts/account-export.ts'

/**
 * Streams a generated file at the client's pace. On failure the connection is cut, so that the
 * client notices the incomplete file.
 */
export async function sendAttachment(
  {
    req,
    res,
    signal,
    log,
  }: { req: IncomingMessage; res: ServerResponse; signal: AbortSignal; log: Log },
  { name, type = 'application/json; charset=utf-8', chunks }: Attachment,
): Promise<void> {
  // Generate the first chunk before sending the status, so that a database outage gives a 503 and
  // not a broken 200.
  const first = req.method === 'HEAD' ? undefined : await chunks.next()
  res.writeHead(200, {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  })
  if (!first) return void res.end()
  async function* all() {
    if (!first?.done) yield first?.value
    try {
      yield* chunks
    } catch (error) {
      // No warning for a disconnected client, which aborts the generation as well.
      if (!signal.aborted) log.warn({ err: error }, 'a file could not be sent completely')
      throw error
    }
  }
  // The pipeline has destroyed the response, and the client sees its connection close.
  await pipeline(Readable.from(all()), res).catch(() => {})
}
