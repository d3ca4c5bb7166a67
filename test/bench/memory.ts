/**
 * By how much uploads and proxied downloads raise the resident memory of the service: `npm run bench:memory`.
 */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { MiB, startService } from './service.ts'

const bench = await startService('sqlite', { DOWNLOADS: 'proxy' })
const boundary = 'satchel-bench'
const chunk = Buffer.alloc(256 * 1024, 7)

function send(path: string, before: string, bytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const tail = `\r\n--${boundary}--\r\n`
    const req = request(`${bench.url}${path}`, {
      method: 'POST',
      headers: {
        cookie: bench.cookie,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': Buffer.byteLength(before) + bytes + tail.length,
      },
    })
    req.on('error', reject)
    req.on('response', res => {
      let text = ''
      res.setEncoding('utf8').on('data', part => {
        text += part
      })
      res.on('end', () =>
        res.statusCode === 200 && !text.includes('"errors"') ? resolve(text) : reject(new Error(text)),
      )
    })
    req.write(before)
    let left = bytes
    const more = () => {
      while (left > 0) {
        const piece = left < chunk.length ? chunk.subarray(0, left) : chunk
        left -= piece.length
        if (!req.write(piece)) return void req.once('drain', more)
      }
      req.end(tail)
    }
    more()
  })
}

const part = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (field: string, name: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`
const operations = JSON.stringify({
  query: 'mutation ($file: Upload!) { uploadFile(input: { file: $file }) { id } }',
  variables: { file: null },
})

const byRest = (name: string, bytes: number) => send('/api/files/upload', file('file', name), bytes)
const byGraphql = (name: string, bytes: number) =>
  send('/graphql', part('operations', operations) + part('map', '{"0":["variables.file"]}') + file('0', name), bytes)

async function download(name: string): Promise<void> {
  const made = await fetch(`${bench.url}/api/files/quick_share`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: bench.cookie },
    body: JSON.stringify({ object: name }),
  })
  const { response } = (await made.json()) as { response: { sharing_token: string } }
  const got = await fetch(`${bench.url}/api/d/${response.sharing_token}`)
  let bytes = 0
  for await (const piece of got.body ?? []) bytes += piece.length
  if (bytes !== 2048 * MiB) throw new Error(`Got ${bytes} bytes.`)
}

async function measure(title: string, aim: number, work: () => Promise<unknown>): Promise<void> {
  bench.resetPeak()
  await sleep(500)
  const before = bench.resident()
  await work()
  const rise = bench.peak() - before
  process.stdout.write(`${title.padEnd(40)} +${rise.toFixed(0)} MiB (aim: below ${aim})\n`)
}

// What a process needs once, it may have before the measurement.
await byRest('warm', 64 * MiB)
await byGraphql('warm-graphql', 64 * MiB)
await measure('2 GiB upload by REST', 150, () => byRest('a', 2048 * MiB))
await measure('2 GiB upload by GraphQL', 150, () => byGraphql('b', 2048 * MiB))
await measure('2 GiB download by proxy', 150, () => download('a'))
await measure('20 uploads of 100 MiB at once', 400, () =>
  Promise.all(Array.from({ length: 20 }, (_, i) => byRest(`p${i}`, 100 * MiB))),
)
await bench.stop()
