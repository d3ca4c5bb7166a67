import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { freePort } from '../support/free-port.ts'
import type { Person } from '../support/harness.ts'
import { sampleOf, scrape } from '../support/scrape.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { eventually, until } from '../support/until.ts'

declare const engine: 'sqlite' | 'mysql'

/** A provider, because the embedded sign-in would allow only one worker. It is never called. */
const PROVIDER = {
  OAUTH_TEST_CLIENT_ID: 'satchel',
  OAUTH_TEST_CLIENT_SECRET: 'secret',
  OAUTH_TEST_AUTHORIZE_URL: 'https://sso.example.com/authorize',
  OAUTH_TEST_TOKEN_URL: 'https://sso.example.com/token',
  OAUTH_TEST_USERINFO_URL: 'https://sso.example.com/userinfo',
}

const TWO = {
  ...PROVIDER,
  WORKERS: '2',
  LOG_LEVEL: 'info',
  CONSOLE: 'false',
  // Polling is off, so an immediate effect proves that one worker has notified the other.
  SWEEP_SECONDS: '3600',
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

interface Options {
  method?: string
  json?: unknown
  headers?: Record<string, string>
}

/** A connection to the service, which always reaches the same worker. */
interface Line {
  /** The process id of that worker. */
  pid: number
  ask(path: string, options?: Options): Promise<Answer>
  /** Opens a subscription, and returns its stream, or its refusal. */
  subscribe(who: Person, query: string): Promise<{ said(): string; close(): void }>
  close(): void
}

async function openLine(service: Pick<ServiceProcess, 'url' | 'said'>): Promise<Line> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = async (path: string, { method = 'GET', json, headers = {} }: Options = {}) => {
    const body = json === undefined ? '' : JSON.stringify(json)
    const type = body && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const req = request(`${service.url}${path}`, {
      agent,
      method,
      headers: { ...type, ...headers },
    })
    req.end(body)
    const [res] = await once(req, 'response')
    return { req, res }
  }
  const { res } = await send('/auth/is_valid')
  await text(res)
  const id = res.headers['x-request-id']
  const line = await until(() => service.said().match(new RegExp(`^.*${id}.*$`, 'm'))?.[0])
  return {
    pid: JSON.parse(line).pid,
    async ask(path, options) {
      const { res: answer } = await send(path, options)
      const body = await text(answer)
      return { status: answer.statusCode, body: body ? JSON.parse(body) : undefined }
    },
    async subscribe(who, query) {
      const headers = { cookie: who.cookie, accept: 'text/event-stream' }
      const { req, res: stream } = await send('/graphql', {
        method: 'POST',
        headers,
        json: { query },
      })
      let said = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk
      })
      stream.on('error', () => {})
      await until(() => said !== '')
      return { said: () => said, close: () => req.destroy() }
    },
    close: () => agent.destroy(),
  }
}

/** A connection to each of two workers. */
async function openLines(service: ServiceProcess): Promise<[Line, Line]> {
  const lines: Line[] = []
  await until(
    async () => {
      const line = await openLine(service)
      if (lines.some(({ pid }) => pid === line.pid)) line.close()
      else lines.push(line)
      return lines.length === 2
    },
    30_000,
    200,
  )
  return lines as [Line, Line]
}

const USAGE = 'subscription { driveChanged { usage { folderCount } } }'
const REFUSED = 'QUOTA_EXCEEDED'

const as = (who: Person, options: Options = {}): Options => ({
  ...options,
  headers: { cookie: who.cookie },
})
const post = (json: object): Options => ({ method: 'POST', json })
const newFolder = (line: Line, who: Person, path: string) =>
  line.ask('/api/folders', as(who, post({ path })))

const onMysql = engine === 'mysql' ? describe : describe.skip

onMysql('Two workers', () => {
  let service: ServiceProcess
  let alice: Person
  let bob: Person
  let near: Line
  let far: Line

  beforeAll(async () => {
    service = await startServiceProcess({
      ...TWO,
      RATE_WORKSPACES: '3',
      SUBSCRIPTIONS_PER_USER: '2',
    })
    const [first, second] = await service.signIn('alice', 'bob')
    if (!first || !second) throw new Error('They have not signed in.')
    ;[alice, bob] = [first, second]
  })
  beforeEach(async () => {
    ;[near, far] = await openLines(service)
  })
  afterEach(() => {
    near?.close()
    far?.close()
  })
  afterAll(() => service?.stop())

  const folder = () => join(service.dataDir, 'mail')
  const mails = () =>
    existsSync(folder()) ? readdirSync(folder()).filter(name => name.endsWith('.eml')).length : 0
  const deaths = () => service.said().split('a worker died').length - 1

  it('run in their own processes, and the first process serves no requests', () => {
    expect(new Set([service.pid, near.pid, far.pid]).size).toBe(3)
  })

  it('share their rate limits', async () => {
    const create = (line: Line, name: string) =>
      line.ask('/api/workspaces/create', as(alice, post({ name })))
    const [one, two, three, four] = [
      ...(await Promise.all([create(near, 'a'), create(far, 'b')])),
      await create(near, 'c'),
      await create(far, 'd'),
    ]
    expect([one, two, three].map(answer => answer?.status)).toEqual([200, 200, 200])
    expect(four).toMatchObject({
      status: 429,
      body: { response: { code: 'RATE_LIMITED', policy: 'workspaces' } },
    })
    expect((await create(near, 'e')).status).toBe(429)
  })

  it('share the count of wrong passwords, even for concurrent attempts', async () => {
    await alice.upload('secret.txt', 'x')
    const { response } = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: 'secret.txt', password: 'right' },
    })
    const path = `/api/share/resolve/${response.sharing_token}`
    const guess = (line: Line) => line.ask(path, post({ password: 'wrong' }))
    const said = await Promise.all(Array.from({ length: 30 }, (_, i) => guess(i % 2 ? near : far)))
    const codes = said.map(({ body }) => body.response.code)
    expect(codes.filter(code => code === 'WRONG_PASSWORD')).toHaveLength(10)
    expect(codes.filter(code => code === 'TOO_MANY_ATTEMPTS')).toHaveLength(20)
  })

  it('reject a key that was just revoked on the other worker', async () => {
    for (let i = 0; i < 10; i++) {
      const [here, there] = i % 2 ? [near, far] : [far, near]
      const made = await here.ask(
        '/api/api_keys/private/create',
        as(bob, post({ name: `k${i}`, scopes: ['private_files:read'] })),
      )
      const { id, key } = made.body.response.api_key
      const use = (line: Line) => line.ask('/api/files/tree', { headers: { 'x-api-key': key } })
      expect([(await use(there)).status, (await use(here)).status]).toEqual([200, 200])
      const gone = await here.ask(
        '/api/api_keys/private/delete',
        as(bob, { method: 'DELETE', json: { api_key_id: id } }),
      )
      expect(gone.status).toBe(200)
      expect([(await use(there)).status, (await use(here)).status]).toEqual([401, 401])
    }
  })

  it('notify each other of events', async () => {
    const stream = await near.subscribe(bob, USAGE)
    await newFolder(far, bob, 'told')
    await until(() => stream.said().includes('"folderCount":1'), 5000)
    stream.close()
  })

  it('share the limit of subscriptions, and release its slots', async () => {
    const one = await near.subscribe(bob, USAGE)
    const two = await far.subscribe(bob, USAGE)
    const [lineOne, lineTwo] = await openLines(service)
    for (const line of [lineOne, lineTwo]) {
      const refused = await line.subscribe(bob, USAGE)
      await until(() => refused.said().includes(REFUSED))
      refused.close()
    }
    one.close()
    await until(async () => {
      const [again, other] = await openLines(service)
      other.close()
      const third = await again.subscribe(bob, USAGE)
      await sleep(200)
      third.close()
      return !third.said().includes(REFUSED)
    })
    two.close()
    lineOne.close()
    lineTwo.close()
  })

  it('run each job once and without delay, wherever it was enqueued', async () => {
    const emails = [
      'carol@example.com',
      'dave@example.com',
      'erin@example.com',
      'frank@example.com',
    ]
    await alice.upload('shared.txt', 'x')
    for (const [i, email] of emails.entries()) {
      const shared = await [near, far][i % 2]?.ask(
        '/api/files/share',
        as(alice, post({ email, objects: ['shared.txt'], send_email: true })),
      )
      expect(shared?.status).toBe(200)
      await until(() => mails() === i + 1)
    }
    await sleep(1000)
    expect(mails()).toBe(emails.length)
  })

  // The worker that started first runs the jobs.
  it.each(['older', 'younger'])(
    'survive the death of the %s one, which is replaced',
    async which => {
      const before = deaths()
      const [older, younger] = near.pid < far.pid ? [near, far] : [far, near]
      const [killed, kept] = which === 'older' ? [older, younger] : [younger, older]
      const others = await openLines(service)
      const streams = await Promise.all(others.map(line => line.subscribe(bob, USAGE)))
      const running = Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          newFolder(kept, bob, `while-${killed.pid}-${i}`).then(({ status }) => status),
        ),
      )
      process.kill(killed.pid, 'SIGKILL')
      expect(new Set(await running)).toEqual(new Set([200]))
      await until(() => deaths() === before + 1)
      // The slots of the dead worker are free again.
      const [again, fresh] = await openLines(service)
      expect([again.pid, fresh.pid]).not.toContain(killed.pid)
      const count = mails()
      const email = `after-${killed.pid}@example.com`
      await fresh.ask(
        '/api/files/share',
        as(alice, post({ email, objects: ['shared.txt'], send_email: true })),
      )
      await until(() => mails() === count + 1)
      const second = await fresh.subscribe(bob, USAGE)
      await newFolder(again, bob, `after-${killed.pid}`)
      await eventually(async () => expect(second.said()).toContain('folderCount'), 5000)
      for (const { close } of [...streams, ...others, second, again, fresh]) close()
    },
  )
})

onMysql('The connections of one address', () => {
  it('are counted over all workers', async () => {
    const service = await startServiceProcess({ ...TWO, CONNECTIONS_PER_ADDRESS: '6' })
    try {
      for (const line of await openLines(service)) line.close()
      const { hostname, port } = new URL(service.url)
      // Earlier ones may still be closing.
      await eventually(async () => {
        const sockets = Array.from({ length: 9 }, () => connect(Number(port), hostname))
        const statuses: string[] = []
        for (const socket of sockets) {
          socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
          const [chunk] = await once(socket, 'data')
          statuses.push(String(chunk).slice(9, 12))
        }
        for (const socket of sockets) socket.destroy()
        expect(statuses.sort()).toEqual([...Array(6).fill('200'), ...Array(3).fill('503')])
      })
      await until(async () => (await fetch(`${service.url}/healthz`)).status === 200)
    } finally {
      await service.stop()
    }
  })
})

onMysql('A service with workers', () => {
  const start = async (more: Record<string, string> = {}) => {
    const service = await startServiceProcess({ ...TWO, ...more })
    const lines = await openLines(service)
    return { service, lines }
  }

  it('stops as a whole when its first process is killed, and frees its port', async () => {
    const port = String(await freePort())
    const { service, lines } = await start({ PORT: port })
    try {
      const [alice] = await service.signIn('alice')
      const stream = await lines[0].subscribe(alice as Person, USAGE)
      const pids = service.workers()
      process.kill(service.pid, 'SIGKILL')
      await until(() => !pids.some(isAlive))
      const again = await service.another()
      expect((await fetch(`${again.url}/readyz`)).status).toBe(200)
      stream.close()
      for (const line of lines) line.close()
    } finally {
      await service.stop()
    }
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'completes running requests when all its processes receive %s',
    async signal => {
      const { service } = await start({ SHUTDOWN_SECONDS: '20' })
      try {
        const [alice] = await service.signIn('alice')
        const held = await Promise.all(
          [0, 1, 2, 3].map(i => holdUpload(service, alice as Person, `held-${i}.txt`)),
        )
        const pids = service.workers()
        const ended = service.end(signal)
        for (const pid of pids) process.kill(pid, signal)
        await until(() => refusesConnections(service.url))
        expect(pids.every(isAlive)).toBe(true)
        expect(await Promise.all(held.map(upload => upload.finish()))).toEqual([200, 200, 200, 200])
        expect(await ended).toBe(0)
        expect(pids.some(isAlive)).toBe(false)
        expect(service.said()).not.toContain('a worker died')
      } finally {
        await service.stop()
      }
    },
  )

  it('replaces a hanging worker', async () => {
    const { service, lines } = await start()
    try {
      const [stopped] = lines
      process.kill(stopped.pid, 'SIGSTOP')
      await until(() => !isAlive(stopped.pid), 60_000, 200)
      expect(service.said()).toContain('a worker hangs')
      for (const line of await openLines(service)) line.close()
      for (const line of lines) line.close()
    } finally {
      await service.stop()
    }
  }, 150_000)

  it('reports once why it cannot start', async () => {
    const { service } = await start({ PORT: String(await freePort()) })
    try {
      const said = await service.another().catch(error => String(error))
      expect(said).toMatch(/ended with 1:/)
      expect(String(said).split('another program listens').length).toBe(2)
    } finally {
      await service.stop()
    }
  })
})

onMysql('The metrics', () => {
  it('sum over all workers, and do not decrease when one dies', async () => {
    const port = String(await freePort())
    const service = await startServiceProcess({ ...TWO, METRICS_PORT: port })
    try {
      const figures = () => scrape(`http://127.0.0.1:${port}/metrics`)
      const health = { method: 'GET', route: '/healthz', status: '200' }
      const asked = async () =>
        sampleOf(await figures(), 'satchel_http_requests_total', health) ?? 0
      const lines = await openLines(service)
      const [near, far] = lines
      const before = await asked()
      for (let i = 0; i < 5; i++) await near.ask('/healthz').catch(() => {})
      for (let i = 0; i < 7; i++) await far.ask('/healthz').catch(() => {})
      await eventually(async () => expect(await asked()).toBe(before + 12))
      // The leader reads these a moment after its start.
      const ofTheLeader = [
        'satchel_database_up',
        'satchel_storage_allowed_bytes',
        'satchel_webhooks_due',
      ]
      await until(async () => {
        const text = await figures()
        return ofTheLeader.every(name => sampleOf(text, name, {}) !== undefined)
      })
      const text = await figures()
      expect(sampleOf(text, 'satchel_workers', {})).toBe(2)
      expect(sampleOf(text, 'satchel_workers_wanted', {})).toBe(2)
      expect(sampleOf(text, 'satchel_worker_restarts_total', {})).toBe(0)
      expect(sampleOf(text, 'satchel_database_connections_limit', {})).toBe(10)
      expect(sampleOf(text, 'satchel_database_up', {})).toBe(1)
      expect(sampleOf(text, 'satchel_storage_allowed_bytes', {})).toBeGreaterThanOrEqual(0)
      expect(sampleOf(text, 'satchel_webhooks_due', {})).toBe(0)

      const total = await asked()
      process.kill(near.pid, 'SIGKILL')
      await until(async () => sampleOf(await figures(), 'satchel_worker_restarts_total', {}) === 1)
      expect(await asked()).toBeGreaterThanOrEqual(total)
      await until(async () => sampleOf(await figures(), 'satchel_workers', {}) === 2)
      expect(await asked()).toBeGreaterThanOrEqual(total)
      await until(async () => sampleOf(await figures(), 'satchel_database_up', {}) === 1)
      for (const line of lines) line.close()
    } finally {
      await service.stop()
    }
  })
})

onMysql('The embedded sign-in', () => {
  it('stays in one process, and logs this at the start', async () => {
    const service = await startServiceProcess({ WORKERS: '2', CONSOLE: 'false' })
    try {
      expect(service.workers()).toEqual([])
      expect(service.said()).toMatch(/WORKERS: there is one, because the embedded sign-in/)
    } finally {
      await service.stop()
    }
  })
})

const onSqlite = engine === 'sqlite' ? it : it.skip

onSqlite('SQLite runs in one process, and the start logs this', async () => {
  const service = await startServiceProcess({ ...PROVIDER, WORKERS: '2', CONSOLE: 'false' })
  try {
    expect(service.workers()).toEqual([])
    expect(service.said()).toMatch(/WORKERS: there is one, because SQLite has one writer/)
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  } finally {
    await service.stop()
  }
})

/** Sends an upload except for its end. */
async function holdUpload({ url }: Pick<ServiceProcess, 'url'>, who: Person, name: string) {
  const boundary = 'held'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: text/plain\r\n\r\n`
  const req = request(`${url}/api/files/upload`, {
    agent: false,
    method: 'POST',
    headers: { cookie: who.cookie, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const answered = once(req, 'response')
  req.write(`${head}first half, `)
  await once(req, 'socket')
  // The service has admitted it by then.
  await sleep(1000)
  return {
    async finish(): Promise<number> {
      req.end(`second half\r\n--${boundary}--\r\n`)
      const [answer] = await answered
      answer.resume()
      return answer.statusCode
    },
  }
}

const refusesConnections = (url: string): Promise<boolean> =>
  new Promise(resolve => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
