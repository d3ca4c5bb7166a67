/**
 * Asks a server as fast as it answers, in a process of its own. Reads options of autocannon as
 * JSON, and `apart`: each connection begins with another request, so that they do not all send the
 * same one at once. Prints what came of it as JSON.
 */
import { json } from 'node:stream/consumers'
import autocannon, { type Options } from 'autocannon'

const { apart, ...options } = (await json(process.stdin)) as Options & { apart?: boolean }
const all = options.requests ?? []
let clients = 0
if (apart)
  options.setupClient = client => {
    const first = clients++ % all.length
    client.setRequests([...all.slice(first), ...all.slice(0, first)])
  }
const { non2xx, statusCodeStats, errors, requests, latency } = await autocannon(options)
const wrong = non2xx - (statusCodeStats?.['302']?.count ?? 0) + errors
process.stdout.write(
  JSON.stringify({
    wrong,
    rate: requests.average,
    answers: requests.total,
    p50: latency.p50,
    p99: latency.p99,
  }),
)
