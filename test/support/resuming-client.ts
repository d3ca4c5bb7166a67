/**
 * A program that uploads one file in parts, and resumes where an earlier run was interrupted.
 * Arguments: the address of the service, and the job as JSON. Writes each step to its journal and
 * its output before the next step.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  BROKEN,
  parseSteps,
  partSizes,
  type Step,
  synthesize,
  type UploadJob,
} from './resuming-upload.ts'

const IN_FLIGHT = 4
const [, , url = '', text = '{}'] = process.argv
const job: UploadJob = JSON.parse(text)
const headers = { cookie: job.cookie, 'content-type': 'application/json' }

/** The service or the store is unavailable. */
class Broken extends Error {}

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  response: any
}

function note(step: Step): void {
  const line = `${JSON.stringify(step)}\n`
  appendFileSync(job.journal, line)
  process.stdout.write(line)
}

async function request(
  address: string,
  options: RequestInit,
): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(address, options)
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    throw new Broken(String(error))
  }
}

async function call(method: string, path: string, body?: object): Promise<Answer> {
  const options = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  const { status, text } = await request(`${url}${path}`, options)
  if (status === 503) throw new Broken(text)
  return { status, response: JSON.parse(text).response }
}

async function expectOk(method: string, path: string, body?: object): Promise<Answer['response']> {
  const { status, response } = await call(method, path, body)
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(response)}`)
  return response
}

/** Whether the file is complete on the service. */
async function isThere(): Promise<boolean> {
  const { files } = await expectOk('GET', '/api/files/tree')
  const file = files.find((f: { name: string }) => f.name === job.name)
  return file?.md5_checksum === job.md5 && file.size === job.size
}

/**
 * Signed addresses become invalid with an embedded store, which restarts on another port. Requests
 * new ones.
 */
async function addressesOf(id: string): Promise<Map<number, string>> {
  const query = `{ node(id: "${id}") { ... on UploadSession { parts { number url } } } }`
  const { text } = await request(`${url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  })
  const { data } = JSON.parse(text) as {
    data?: { node?: { parts: { number: number; url: string }[] } }
  }
  if (!data?.node) throw new Error(`There are no addresses: ${text}`)
  return new Map(data.node.parts.map(part => [part.number, part.url]))
}

async function sendParts(id: string, partSize: number, missing: number[]): Promise<void> {
  const sizes = partSizes(job.size, partSize)
  const addresses = job.direct ? await addressesOf(id) : undefined
  const rest = missing.values()
  const work = async () => {
    for (const part of rest) {
      note({ did: 'send', part })
      const { status, text } = await request(
        addresses?.get(part) ?? `${url}/api/files/uploads/${id}/parts/${part}`,
        {
          method: 'PUT',
          headers: addresses
            ? {}
            : { cookie: job.cookie, 'content-type': 'application/octet-stream' },
          body: synthesize(job.seed, part, sizes[part - 1] ?? 0),
        },
      )
      if (status >= 500) throw new Broken(text)
      // Stores have error responses of their own.
      if (!(addresses ? [200, 201] : [200]).includes(status))
        throw new Error(`Part ${part}: ${status} ${text}`)
      note({ did: 'acknowledged', part })
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
}

/**
 * A completion whose service was killed keeps its claim for a while. A completion that succeeded
 * has left the file.
 */
async function complete(id: string): Promise<void> {
  for (;;) {
    const { status, response } = await call('POST', `/api/files/uploads/${id}/complete`, {
      md5: job.md5,
    })
    if (status === 200 && response.md5_checksum === job.md5) return
    if (status === 404 && (await isThere())) return
    if (response?.code !== 'UPLOAD_BUSY')
      throw new Error(`It cannot be completed: ${status} ${JSON.stringify(response)}`)
    await sleep(100)
  }
}

async function run(): Promise<void> {
  const steps = existsSync(job.journal) ? parseSteps(readFileSync(job.journal, 'utf8')) : []
  let upload = steps.find(step => step.did === 'started')
  let received: number[] = []
  if (upload) {
    const { status, response } = await call('GET', `/api/files/uploads/${upload.id}`)
    if (status === 404 && (await isThere())) return note({ did: 'finished' })
    if (status !== 200) throw new Error(`The upload is lost: ${status} ${JSON.stringify(response)}`)
    received = response.received
    const forgotten = steps.flatMap(s =>
      s.did === 'acknowledged' && !received.includes(s.part) ? [s.part] : [],
    )
    if (forgotten.length > 0) throw new Error(`Acknowledged parts are forgotten: ${forgotten}`)
  } else {
    note({ did: 'began' })
    const input = { filename: job.name, size: job.size, direct: job.direct }
    const { upload_id: id, chunk_size: partSize } = await expectOk(
      'POST',
      '/api/files/uploads',
      input,
    )
    upload = { did: 'started', id, partSize }
    note(upload)
  }
  const { id, partSize } = upload
  const there = new Set(received)
  const missing = partSizes(job.size, partSize).flatMap((_, i) => (there.has(i + 1) ? [] : [i + 1]))
  if (missing.length > 0) await sendParts(id, partSize, missing)
  note({ did: 'complete' })
  await complete(id)
  note({ did: 'finished' })
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exit(error instanceof Broken ? BROKEN : 1)
}
