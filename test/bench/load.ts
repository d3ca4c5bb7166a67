/**
 * Sends requests to a server as fast as it responds, from its own process. Reads options of
 * autocannon as JSON, and `apart`: each connection begins with a different request, so that they do
 * not all send the same request at the same time. Prints the results as JSON.
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
