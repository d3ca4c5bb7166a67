import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { Failure } from '../../src/cli/failure.ts'
import { sourceOf } from '../../src/cli/transfer/local-file.ts'
import { send } from '../../src/cli/wire.ts'

const KiB = 1024

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-body-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

it('reads all chunks of a range into one buffer', async () => {
  const bytes = randomBytes(1000 * KiB)
  writeFileSync(join(dir, 'a'), bytes)
  const file = await open(join(dir, 'a'))
  const { body, crc32: sum } = (await sourceOf(file)).read(100, 900 * KiB)
  const memories = new Set<ArrayBufferLike>()
  const copies: Uint8Array[] = []
  for await (const chunk of body) {
    memories.add(chunk.buffer)
    copies.push(Buffer.from(chunk))
  }
  await file.close()
  const expected = bytes.subarray(100, 100 + 900 * KiB)
  expect(Buffer.concat(copies).equals(expected)).toBe(true)
  expect(await sum()).toBe(crc32(expected).toString(16).padStart(8, '0'))
  expect([...memories].map(({ byteLength }) => byteLength)).toEqual([256 * KiB])
})

it('fills each chunk despite short reads, which some network mounts return', async () => {
  const bytes = randomBytes(600 * KiB)
  const file = {
    stat: async () => ({ size: bytes.length, mtimeMs: 0 }),
    read: async (memory: Buffer, offset: number, length: number, at: number) => ({
      bytesRead: bytes.copy(memory, offset, at, at + Math.min(length, 4096)),
    }),
  }
  const { body } = (await sourceOf(file as unknown as FileHandle)).read(0, bytes.length)
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  expect(chunks.map(({ length }) => length)).toEqual([256 * KiB, 256 * KiB, 88 * KiB])
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
})

it('reports a changed file instead of an unreachable service', async () => {
  const server = createServer((req, res) => req.resume().on('end', () => res.end())).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  async function* body() {
    yield Buffer.alloc(KiB)
    throw new Failure('FILE_CHANGED', 'The file has changed.')
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sent = send(url, {
    method: 'PUT',
    headers: {},
    body: body(),
    signal: new AbortController().signal,
  })
  await expect(sent).rejects.toMatchObject({ code: 'FILE_CHANGED' })
  server.closeAllConnections()
  server.close()
})

it('reads a chunk into a reused buffer after the network has taken the previous chunk', async () => {
  let received = 0
  const [chunk, count] = [256 * KiB, 64]
  // Reads slowly, so that the socket of the sender is full most of the time.
  const take = async (req: IncomingMessage, res: ServerResponse) => {
    for await (const bytes of req as AsyncIterable<Buffer>) {
      received = crc32(bytes, received)
      await sleep(1)
    }
    res.end()
  }
  const server = createServer((req, res) => void take(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let sent = 0
  const memory = Buffer.alloc(chunk)
  async function* body() {
    for (let n = 1; n <= count; n++) {
      memory.fill(n)
      sent = crc32(memory, sent)
      yield memory
    }
  }
  await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    method: 'PUT',
    headers: { 'content-length': String(chunk * count) },
    body: body(),
    signal: new AbortController().signal,
    limitMs: undefined,
  })
  server.closeAllConnections()
  server.close()
  expect(received).toBe(sent)
})
