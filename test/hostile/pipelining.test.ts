import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { type BuiltService, startBuilt } from '../support/built-service.ts'
import { newDatabase, type Person, signInTo } from '../support/harness.ts'
import { openWire } from '../support/wire.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
let dataDir: string
let service: BuiltService
let alice: Person

beforeAll(async () => {
  database = await newDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'satchel-pipelining-'))
  service = await startBuilt({ DATA_DIR: dataDir, DATABASE_URL: database.url })
  const db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 2 })
  alice = await signInTo(db, service.url, 'alice')
  await db.close()
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024

/** An expensive query with a different text each time, so that no response is cached. */
const expensive = (i: number) =>
  `/graphql?query={__schema{types{${Array.from({ length: 7 }, (_, a) => `a${i}_${a}:fields{description}`).join('%20')}}}}`

describe('Pipelined requests', () => {
  it('are answered in order', async () => {
    const wire = await openWire(service.url)
    const body = JSON.stringify({ query: '{ third: __typename }' })
    await wire.send(
      [
        get('/graphql?query={first:__typename}'),
        get('/healthz'),
        `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        get('/graphql?query={fourth:__typename}'),
        ...Array.from({ length: 26 }, (_, i) => get(`/graphql?query={n${i}:__typename}`)),
      ].join(''),
    )
    for (const expected of [
      'first',
      '"ok"',
      'third',
      'fourth',
      ...Array.from({ length: 26 }, (_, i) => `n${i}"`),
    ]) {
      const answer = await wire.answer()
      expect([answer?.status, answer?.text]).toEqual([200, expect.stringContaining(expected)])
    }
    // The connection remains usable.
    await wire.send(get('/healthz'))
    expect((await wire.answer())?.status).toBe(200)
    wire.cut()
  })

  it('are refused when too many wait, and the connection closes', async () => {
    const wire = await openWire(service.url)
    await wire.send(get('/healthz').repeat(50))
    const statuses: (number | undefined)[] = []
    for (;;) {
      const answer = await wire.answer()
      if (!answer) break
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([...Array(33).fill(200), 503])
    await wire.ended
  })

  it('with unread responses block nobody, and hold no memory', async () => {
    for (let i = 0; i < 5; i++) await (await fetch(service.url + expensive(i))).text()
    const { port } = new URL(service.url)
    const before = memory()
    const sockets: Socket[] = []
    let made = 5
    for (let i = 0; i < 8; i++) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      // Half of the connections stay below the limit at which they are closed.
      socket.write(Array.from({ length: i % 2 ? 290 : 30 }, () => get(expensive(made++))).join(''))
      socket.pause()
      sockets.push(socket)
    }
    let slowest = 0
    let most = 0
    const end = performance.now() + 6000
    while (performance.now() < end) {
      const start = performance.now()
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
      slowest = Math.max(slowest, performance.now() - start)
      most = Math.max(most, memory())
      await sleep(50)
    }
    expect((await alice.graphql('{ me { email } }')).errors).toBeUndefined()
    expect(slowest).toBeLessThan(3000)
    expect(most - before).toBeLessThan(150)
    for (const socket of sockets) socket.destroy()
  })
})
