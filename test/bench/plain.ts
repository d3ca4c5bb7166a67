/** The yardstick of the storage benchmarks: the same bytes written straight to the same disk, with MD5 and fsync, and nothing else. */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

/** Writes a file from chunks as a socket gives them, and syncs it. */
export async function writePlainly(path: string, source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('md5')
  const file = await open(path, 'wx')
  try {
    for await (const chunk of source) {
      hash.update(chunk)
      await file.write(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

export interface PlainServer {
  url: string
  close(): Promise<void>
}

const listening = async (server: ReturnType<typeof createServer>): Promise<PlainServer> => {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    close: () => new Promise(done => server.close(() => done())),
  }
}

/** PUT writes a file with MD5 and fsync, or a part at `?at=` of one; GET reads a file; DELETE removes it. */
export function startPlainServer(dir: string): Promise<PlainServer> {
  const files = new Map<string, Promise<FileHandle>>()
  const server = createServer(async (req, res) => {
    try {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://localhost')
      const path = join(dir, pathname.slice(1))
      const at = searchParams.get('at')
      if (req.method === 'GET') {
        res.writeHead(200, { 'content-length': statSync(path).size })
        createReadStream(path).pipe(res)
        return
      }
      if (req.method === 'DELETE') {
        const file = files.get(path)
        files.delete(path)
        await (await file)?.close()
        await unlink(path)
      } else if (at === null) await writePlainly(path, req)
      else {
        if (!files.has(path)) files.set(path, open(path, 'w'))
        const file = await files.get(path)
        const hash = createHash('md5')
        let position = Number(at)
        for await (const chunk of req) {
          hash.update(chunk)
          await file?.write(chunk, 0, chunk.length, position)
          position += chunk.length
        }
        await file?.datasync()
        hash.digest('hex')
      }
      res.writeHead(200, { 'content-length': 0 }).end()
    } catch (error) {
      res.writeHead(500).end(String(error))
    }
  })
  return listening(server)
}
