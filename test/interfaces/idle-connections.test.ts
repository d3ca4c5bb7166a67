import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

const CONNECTIONS = 50

/** Prints the number of responses and requests in memory whenever the process gets SIGUSR2. */
const counts = `import v8 from 'node:v8'; import http from 'node:http';
  const count = type => v8.queryObjects(type, { format: 'count' })
  process.on('SIGUSR2', () =>
    console.log('kept: ' + count(http.ServerResponse) + ',' + count(http.IncomingMessage)))`

let service: ServiceProcess
const sockets: Socket[] = []

beforeAll(async () => {
  service = await startServiceProcess({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(counts)}`,
  })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await service.stop()
})

/** Sends a request over a connection that stays open, and reads the beginning of the response. */
const ask = () =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', reject)
    socket.once('data', bytes => resolve(bytes.toString()))
    socket.write('GET /api/user HTTP/1.1\r\nHost: localhost\r\n\r\n')
  })

it('An idle connection keeps neither its last request nor the response', async () => {
  const kept = async () => {
    const since = service.said().length
    process.kill(service.pid, 'SIGUSR2')
    const found = await until(async () => /kept: (\d+),(\d+)/.exec(service.said().slice(since)))
    return found.slice(1).map(Number)
  }
  for (let i = 0; i < CONNECTIONS; i++) expect(await ask()).toMatch(/^HTTP\/1\.1 4\d\d /)
  await until(async () => (await kept()).every(count => count < CONNECTIONS / 5), 20_000, 500)
  expect(sockets.every(socket => !socket.destroyed && !socket.readableEnded)).toBe(true)
})
