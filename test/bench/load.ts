/** Asks a server as fast as it answers, in a process of its own. Reads options of autocannon as JSON; prints what came of it as JSON. */
import { json } from 'node:stream/consumers'
import autocannon, { type Options } from 'autocannon'

const { non2xx, statusCodeStats, errors, requests, latency } = await autocannon((await json(process.stdin)) as Options)
const wrong = non2xx - (statusCodeStats?.['302']?.count ?? 0) + errors
process.stdout.write(
  JSON.stringify({ wrong, rate: requests.average, answers: requests.total, p50: latency.p50, p99: latency.p99 }),
)
