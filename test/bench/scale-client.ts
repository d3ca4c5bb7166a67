import { createHash, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const KiB = 1024
export const PART = 256 * KiB
/** Milliseconds for which a client retries. */
const PATIENCE = 90_000

export const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex')

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  body: any
  headers: Headers
  /** Whether an earlier try may have succeeded, because it got no response or a 503. */
  again: boolean
}

export interface Request {
  method: string
  path: string
  json?: unknown
  form?: () => FormData
  body?: Uint8Array<ArrayBuffer>
  /** The index of the first instance to use. */
  at?: number
}

/** The results of the clients. */
export interface Tally {
  requests: number
  retries: number
  failures: string[]
  operations: Record<string, number>
}

/**
 * Sends a request to an instance. If that does not respond, or asks to retry later, uses the next
 * instance after the given time.
 */
export function createClient(urls: string[], cookie: string, tally: Tally) {
  let turn = randomInt(urls.length)

  async function ask({ method, path, json, form, body, at }: Request): Promise<Answer> {
    const end = Date.now() + PATIENCE
    let place = at ?? turn++
    for (let tries = 1, again = false; ; tries++, place++) {
      tally.requests++
      let wait = 250
      let last = ''
      try {
        const response = await fetch(`${urls[place % urls.length]}${path}`, {
          method,
          headers: {
            cookie,
            ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: json === undefined ? (form?.() ?? body ?? null) : JSON.stringify(json),
          redirect: 'manual',
          signal: AbortSignal.timeout(30_000),
        })
        const text = await response.text()
        const { status, headers } = response
        const after = headers.get('retry-after')
        // Includes an upload that a killed instance still seems to complete.
        if (status !== 503 && status !== 429 && after === null)
          return { status, headers, again, body: parsed(text) }
        if (status !== 429) again = true
        if (after === null) tally.failures.push(`${method} ${path}: ${status} without Retry-After`)
        wait = Number(after ?? 1) * 1000
        last = `${status} ${text.slice(0, 200)}`
      } catch (error) {
        again = true
        last = String((error as Error).cause ?? error)
      }
      if (Date.now() + wait > end) {
        tally.failures.push(`${method} ${path}: given up after ${tries} tries: ${last}`)
        return { status: 0, headers: new Headers(), again, body: {} }
      }
      tally.retries++
      await sleep(wait)
    }
  }
  return { ask, other: () => turn++ }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export type Client = ReturnType<typeof createClient>

/** Works on files of one account, below its own prefix, and remembers the expected state. */
export function createWorker({ ask }: Client, prefix: string, tally: Tally) {
  /** The MD5 of the expected contents by name. */
  const files = new Map<string, string>()
  const mailedTo: string[] = []
  let serial = 0

  const did = (what: string) => {
    tally.operations[what] = (tally.operations[what] ?? 0) + 1
  }
  const failed = (what: string, { status, body }: Answer) =>
    void tally.failures.push(`${what}: ${status} ${JSON.stringify(body).slice(0, 300)}`)
  const code = ({ body }: Answer) => String(body?.response?.code ?? body?.code ?? '')
  const nameOf = () => [...files.keys()][randomInt(files.size || 1)]

  /**
   * The digest that every instance must return for a name. Undefined if there must be no such file.
   */
  async function seen(name: string, at?: number): Promise<string | undefined> {
    const answer = await ask({
      method: 'GET',
      path: `/api/files/info?path=${encodeURIComponent(name)}`,
      ...(at === undefined ? {} : { at }),
    })
    if (answer.status === 200) return answer.body.response.md5_checksum
    if (answer.status !== 404) failed(`info of ${name}`, answer)
    return undefined
  }

  /** Reads at the other instances what was written at one. */
  async function expectSeen(name: string, sum: string | undefined): Promise<void> {
    for (let at = 0; at < 3; at++) {
      const found = await seen(name, at)
      if (found !== sum)
        tally.failures.push(`read after write of ${name}: ${found} instead of ${sum}`)
    }
  }

  async function stored(what: string, name: string, sum: string, answer: Answer): Promise<void> {
    const isOurs =
      answer.again && [400, 404, 409].includes(answer.status) && (await seen(name)) === sum
    if (answer.status !== 200 && !isOurs) return failed(`${what} of ${name}`, answer)
    files.set(name, sum)
    did(what)
    await expectSeen(name, sum)
  }

  const work = {
    async upload() {
      const [name, bytes] = [`${prefix}-${serial++}`, randomBytes(randomInt(1, 40 * KiB))]
      const form = () => {
        const made = new FormData()
        made.append('file', new Blob([bytes]), name)
        return made
      }
      await stored(
        'upload',
        name,
        md5(bytes),
        await ask({ method: 'POST', path: '/api/files/upload', form }),
      )
    },

    async parts() {
      const [name, bytes] = [`${prefix}-${serial++}`, randomBytes(randomInt(PART, 4 * PART))]
      const json = { filename: name, size: bytes.length }
      const begun = await ask({ method: 'POST', path: '/api/files/uploads', json })
      if (begun.status !== 200) return failed(`begin of ${name}`, begun)
      const path = `/api/files/uploads/${begun.body.response.upload_id}`
      for (let n = 0; n * PART < bytes.length; n++) {
        const body = Uint8Array.from(bytes.subarray(n * PART, (n + 1) * PART))
        const sent = await ask({ method: 'PUT', path: `${path}/parts/${n + 1}`, body })
        if (sent.status !== 200) return failed(`part of ${name}`, sent)
      }
      const done = await ask({
        method: 'POST',
        path: `${path}/complete`,
        json: { md5: md5(bytes) },
      })
      await stored('upload in parts', name, md5(bytes), done)
    },

    async move() {
      const name = nameOf()
      if (!name) return
      const to = `${prefix}-${serial++}`
      const sum = files.get(name)
      const moved = await ask({
        method: 'POST',
        path: '/api/files/move',
        json: { source: name, destination: to },
      })
      const isOurs = moved.again && code(moved) === 'FILE_NOT_FOUND' && (await seen(to)) === sum
      if (moved.status !== 200 && !isOurs) return failed(`move of ${name}`, moved)
      files.delete(name)
      if (sum) files.set(to, sum)
      did('move')
      await expectSeen(to, sum)
    },

    async remove() {
      const name = nameOf()
      if (!name) return
      const removed = await ask({ method: 'DELETE', path: `/api/files/delete?file=${name}` })
      if (removed.status !== 200 && !(removed.again && removed.status === 404))
        return failed(`delete ${name}`, removed)
      files.delete(name)
      did('delete')
      await expectSeen(name, undefined)
    },

    async download() {
      const name = nameOf()
      if (!name) return
      const made = await ask({
        method: 'POST',
        path: `/api/user/private/download_token?file=${name}`,
      })
      if (made.status !== 200) return failed(`token of ${name}`, made)
      const led = await ask({
        method: 'GET',
        path: `/api/d/private/${made.body.response.private_download_token}`,
      })
      if (led.status !== 302) return failed(`download of ${name}`, led)
      // The bytes themselves are compared at the end.
      did('download')
    },

    async list() {
      const listed = await ask({ method: 'GET', path: '/api/files/tree?limit=100' })
      if (listed.status !== 200) return failed('list', listed)
      did('list')
    },

    async note() {
      const name = nameOf()
      if (!name) return
      const path = `/api/files/${files.get(name)}/note`
      const content = randomBytes(8).toString('hex')
      const put = await ask({ method: 'PUT', path, json: { content } })
      if (put.status !== 200) return failed(`note of ${name}`, put)
      const got = await ask({ method: 'GET', path })
      if (got.body?.response?.content !== content)
        failed(`read after write of a note of ${name}`, got)
      did('note')
    },

    async share() {
      const name = nameOf()
      if (!name) return
      const email = `${prefix}-${serial++}@example.org`
      const json = { email, objects: [name], send_email: true }
      const shared = await ask({ method: 'POST', path: '/api/files/share', json })
      if (shared.status !== 200) return failed(`share of ${name}`, shared)
      mailedTo.push(email)
      did('share')
    },

    async link() {
      const name = nameOf()
      if (!name) return
      const made = await ask({
        method: 'POST',
        path: '/api/files/quick_share',
        json: { object: name },
      })
      if (made.status !== 200) return failed(`link to ${name}`, made)
      const opened = await ask({
        method: 'GET',
        path: `/api/d/${made.body.response.sharing_token}`,
      })
      if (opened.status !== 302) return failed(`opening a link to ${name}`, opened)
      did('link')
    },
  }
  const mix = [
    ...([
      'upload',
      'upload',
      'upload',
      'upload',
      'parts',
      'parts',
      'move',
      'move',
      'remove',
      'remove',
    ] as const),
    ...(['download', 'list', 'note', 'share', 'link'] as const),
  ]
  return { files, mailedTo, step: () => work[mix[randomInt(mix.length)] ?? 'list']() }
}
