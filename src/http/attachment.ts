import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Log } from '../runtime/log.ts'
import type { Attachment } from '../services/accounts/account-export.ts'

/**
 * Sends a file that is made meanwhile, as fast as the client takes it. Who gets half of it sees its
 * connection end.
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
  // Made before the status is sent: a database that is down is a 503, not a broken 200.
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
      // Not where the client has hung up, which ends what is under way, too.
      if (!signal.aborted) log.warn({ err: error }, 'a file could not be sent completely')
      throw error
    }
  }
  // The pipeline has destroyed the answer, and the client sees its connection end.
  await pipeline(Readable.from(all()), res).catch(() => {})
}
