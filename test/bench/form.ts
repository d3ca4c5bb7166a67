import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Bench } from './service.ts'

const boundary = 'satchel-bench'
const chunk = randomBytes(64 * 1024)

/** This many synthetic bytes. */
export function source(bytes: number): Readable {
  const chunks = function* () {
    for (let left = bytes; left > 0; left -= chunk.length)
      yield left < chunk.length ? chunk.subarray(0, left) : chunk
  }
  return Readable.from(chunks(), { objectMode: false, highWaterMark: chunk.length })
}

const part = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (field: string, name: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`
const operations = (folder: string) =>
  JSON.stringify({
    query: `mutation ($file: Upload!) { uploadFile(input: { file: $file, folder: { at: { path: "${folder}" } } }) { file { id } } }`,
    variables: { file: null },
  })

/** Uploads a file of this size in each way. */
export const uploadByRest = (bench: Bench, folder: string, name: string, bytes: number) =>
  send(bench, '/api/files/upload', part('folder', folder) + file('file', name), bytes)
export const uploadByGraphql = (bench: Bench, folder: string, name: string, bytes: number) => {
  const before =
    part('operations', operations(folder)) +
    part('map', '{"0":["variables.file"]}') +
    file('0', name)
  return send(bench, '/graphql', before, bytes)
}

/**
 * A form as a client streams it: with a declared length, and bytes that are sent as they are read.
 */
async function send(
  { url, cookie }: Bench,
  path: string,
  before: string,
  bytes: number,
): Promise<void> {
  const head = Buffer.from(before)
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const req = request(`${url}${path}`, {
    method: 'POST',
    headers: {
      cookie,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + bytes + tail.length,
    },
  })
  const answered = new Promise<string>((resolve, reject) => {
    req.on('error', reject)
    req.on('response', res => {
      let text = ''
      res.setEncoding('utf8').on('data', part => {
        text += part
      })
      res.on('end', () =>
        res.statusCode === 200 && !text.includes('"errors"')
          ? resolve(text)
          : reject(new Error(text)),
      )
    })
  })
  const body = async function* () {
    yield head
    yield* source(bytes)
    yield tail
  }
  await Promise.all([pipeline(body, req), answered])
}
