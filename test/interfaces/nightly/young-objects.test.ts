import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Person } from '../../support/harness.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts'

// Everything that a request leaves behind should be garbage at the next collection of young
// objects. Otherwise (V8 keeps everything that a new hidden class refers to until a full
// collection), each collection copies it while all other requests wait.

/**
 * The share of the bytes allocated between two collections that may survive: the memory of one
 * running request, and a little more.
 */
const MOST_SURVIVES = 0.045
const REQUESTS = 500

let service: ServiceProcess
let alice: Person

beforeAll(async () => {
  const traced = `import v8 from 'node:v8'; v8.setFlagsFromString('--trace-gc'); v8.setFlagsFromString('--trace-gc-nvp')`
  service = await startServiceProcess({
    NODE_OPTIONS: `--max-semi-space-size=1 --import=data:text/javascript,${encodeURIComponent(traced)}`,
    RATE_FOLDERS: '100000',
  })
  ;[alice] = (await service.signIn('alice')) as [Person]
})
afterAll(() => service.stop())

/**
 * The bytes that the young-object collections have copied since this position in the log, relative
 * to the bytes allocated before them.
 */
function surviving(since: number): number {
  const collections = service
    .said()
    .slice(since)
    .split('\n')
    .filter(line => line.includes(' gc=s '))
    .map(line =>
      [/ allocated=(\d+)/, /new_space_survived=(\d+)/].map(field => Number(field.exec(line)?.[1])),
    )
  expect(collections.length).toBeGreaterThan(4)
  const [allocated = 0, survived = 0] = [0, 1].map(i =>
    collections.reduce((sum, each) => sum + (each[i] ?? Number.NaN), 0),
  )
  return survived / allocated
}

const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { cookie: alice.cookie, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const create = 'mutation ($at: DrivePath!) { createFolder(input: { at: $at }) { folder { id } } }'

it.each<[string, number, (n: number) => [string, RequestInit?]]>([
  ['a health check', 200, () => ['/healthz']],
  ['a query of REST', 200, () => ['/api/user/bucket', { headers: { cookie: alice.cookie } }]],
  ['a mutation of REST', 400, n => ['/api/folders', json({ path: `../${n}` })]],
  ['a query', 200, () => ['/graphql', json({ query: '{ me { name } }' })]],
  [
    'a mutation',
    200,
    n => ['/graphql', json({ query: create, variables: { at: { path: `../${n}` } } })],
  ],
])('%s leaves no memory behind after its response', async (_, status, request) => {
  const send = async () => {
    for (let n = 0; n < REQUESTS; n++) {
      const [path, options] = request(n)
      const answer = await fetch(`${service.url}${path}`, options)
      await answer.arrayBuffer()
      expect(answer.status).toBe(status)
    }
  }
  // Code that is compiled meanwhile survives as well.
  await send()
  const since = service.said().length
  await send()

  expect(surviving(since)).toBeLessThan(MOST_SURVIVES)
})
