/**
 * The bare server of the storage benchmarks. PUT writes a file with MD5 and fsync, with its rows
 * for `?rows`, or a part of it for `?at=`. GET reads a file, and DELETE removes it. Arguments: its
 * folder, and for the rows a database URL and ids as JSON.
 */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { writePlainly } from './plain.ts'
import { openRows } from './rows.ts'

const [, , dir = '', databaseUrl, ids = '{}'] = process.argv
const rows = databaseUrl === undefined ? undefined : openRows(databaseUrl, JSON.parse(ids))
const files = new Map<string, Promise<FileHandle>>()

async function writePart(path: string, at: number, req: IncomingMessage): Promise<void> {
  if (!files.has(path)) files.set(path, open(path, 'w'))
  const file = await files.get(path)
  const hash = createHash('md5')
  let position = at
  for await (const chunk of req) {
    hash.update(chunk)
    await file?.write(chunk, 0, chunk.length, position)
    position += chunk.length
  }
  await file?.datasync()
  hash.digest('hex')
}

async function writeWithRows(path: string, name: string, req: IncomingMessage): Promise<void> {
  const bytes = Number(req.headers['content-length'])
  const id = await rows?.reserve(bytes)
  const md5 = await writePlainly(path, req)
  if (id) await rows?.settle(id, name, bytes, md5)
}

async function remove(path: string): Promise<void> {
  const file = files.get(path)
  files.delete(path)
  await (await file)?.close()
  await unlink(path)
}

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
    if (req.method === 'DELETE') await remove(path)
    else if (searchParams.has('rows')) await writeWithRows(path, pathname.slice(1), req)
    else if (at === null) await writePlainly(path, req)
    else await writePart(path, Number(at), req)
    res.writeHead(200, { 'content-length': 0 }).end()
  } catch (error) {
    res.writeHead(500).end(String(error))
  }
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(
    `listening at http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`,
  )
})
