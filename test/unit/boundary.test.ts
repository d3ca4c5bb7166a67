import { randomBytes } from 'node:crypto'
import { expect, it } from '@jest/globals'
import busboy from 'busboy'
import { searchNatively } from '../../src/http/boundary.ts'

const boundary = 'a-boundary'
const start = (name: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${name}"\r\n\r\n`
const formOf = (files: Record<string, Buffer>): Buffer =>
  Buffer.concat([
    ...Object.entries(files).flatMap(([name, bytes]) => [
      Buffer.from(start(name)),
      bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])

/** The files of a form that arrives in these chunks. An error counts as one of the files. */
async function filesIn(chunks: Buffer[], native = true): Promise<Record<string, string>> {
  const parser = busboy({
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  if (native) expect(searchNatively(parser)).toBe(true)
  const files: Record<string, string> = {}
  await new Promise<void>(resolve => {
    parser.on('file', async (name, stream) => {
      const pieces: Buffer[] = []
      stream.on('data', piece => void pieces.push(piece))
      stream.on('error', () => {})
      stream.on('close', () => {
        files[name] = Buffer.concat(pieces).toString('hex')
      })
    })
    parser.on('error', error => {
      files.error = String(error)
      resolve()
    })
    parser.on('close', resolve)
    for (const chunk of chunks) parser.write(chunk)
    parser.end()
  })
  return files
}

/** Chunks of random lengths, up to `most`. */
function cut(bytes: Buffer, most: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(Math.random() * most)
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}

/** Bytes that resemble boundaries but contain none. */
function nearly(count: number): Buffer {
  const pieces = [
    '\r',
    '\n',
    '\r\n',
    '\r\n--',
    '-',
    `\r\n--${boundary.slice(0, 5)}`,
    `--${boundary}`,
    'x',
    boundary,
  ]
  let text = 'x'
  while (text.length < count) {
    const longer = text + pieces[Math.floor(Math.random() * pieces.length)]
    if (!longer.includes(`\r\n--${boundary}`)) text = longer
  }
  return Buffer.from(text)
}

it('finds the same files in a form, however it is chunked, and despite near-boundaries', async () => {
  for (let round = 0; round < 200; round++) {
    const files = { a: nearly(400), b: randomBytes(1 + round * 7), c: nearly(20) }
    const expected = Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [name, bytes.toString('hex')]),
    )
    const form = formOf(files)
    for (const most of [1, 5, 30, 200, form.length])
      expect(await filesIn(cut(form, most))).toEqual(expected)
  }
})

it('finds the same files in a malformed form', async () => {
  const form = formOf({ a: nearly(100), b: nearly(100) })
  for (const length of [0, 10, 60, 90, form.length - 20, form.length - 5])
    for (const most of [3, 1000]) {
      const chunks = cut(form.subarray(0, length), most)
      expect(await filesIn(chunks)).toEqual(await filesIn(chunks, false))
    }
})

it('searches chunks without a boundary natively', async () => {
  const large = randomBytes(4 * 1024 * 1024)
  const chunks = [Buffer.from(start('a')), large, Buffer.from(`\r\n--${boundary}--\r\n`)]
  expect(await filesIn(chunks)).toEqual({ a: large.toString('hex') })
})

it('leaves other parsers unchanged', () => {
  const parser = busboy({ headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  expect(searchNatively(parser)).toBe(false)
})
