/**
 * The processor time for each request with one, two and three instances at a Galera cluster of
 * three nodes, for the instances and for the nodes: `npm run bench:scale-cost`. Requests per second
 * say little, because load, instances and databases share this machine.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { signInTo } from '../support/harness.ts'
import { openScaleSite } from './scale-site.ts'

const SECONDS = Number(process.env.SECONDS || 8)
const CLIENTS = 6

/** Processor time of processes in milliseconds, over all threads. */
const spent = (pids: number[]) =>
  pids.reduce((sum, pid) => {
    const threads = readdirSync(`/proc/${pid}/task`)
    const times = threads.map(
      task => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0],
    )
    return sum + times.reduce((all, nanoseconds) => all + Number(nanoseconds) / 1e6, 0)
  }, 0)

for (const size of [1, 2, 3]) {
  const site = await openScaleSite(size, { CONNECTIONS_PER_ADDRESS: '1000000' })
  const people = await Promise.all(
    Array.from({ length: CLIENTS }, (_, i) =>
      signInTo(site.db, site.urls[i % size] ?? '', `person-${i}`),
    ),
  )
  let serial = 0
  const requests: Record<string, (who: (typeof people)[number]) => Promise<{ status: number }>> = {
    list: who => who.rest('GET', '/api/files/tree?limit=100'),
    upload: who => who.upload(`f-${serial++}`, 'x'.repeat(4096)),
    account: who => who.rest('GET', '/api/user/data'),
  }
  for (const who of people) for (let i = 0; i < 40; i++) await requests.upload?.(who)
  for (const [name, send] of Object.entries(requests)) {
    let answers = 0
    const run = async (until: number) => {
      answers = 0
      await Promise.all(
        people.map(async who => {
          while (Date.now() < until) {
            const { status } = await send(who)
            if (status !== 200) throw new Error(`${name}: ${status}`)
            answers++
          }
        }),
      )
    }
    await run(Date.now() + 3000)
    const before = { instances: spent(site.pids().instances), nodes: spent(site.pids().nodes) }
    await run(Date.now() + SECONDS * 1000)
    const [instances, nodes] = [
      (spent(site.pids().instances) - before.instances) / answers,
      (spent(site.pids().nodes) - before.nodes) / answers,
    ]
    process.stdout.write(
      `${size} instances, ${name}: ${answers} answers, ${instances.toFixed(2)} ms of instances, ${nodes.toFixed(2)} ms of the three nodes\n`,
    )
  }
  await site.stop()
  await sleep(500)
}
process.exit(0)
