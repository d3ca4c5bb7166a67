/**
 * Sends one large file with tus-js-client, past kills of the service and broken connections, and compares what was stored; then one without
 * any, for the rate: `npm run bench:tus [-- GIBIBYTES]`, 5 without it. Twice as much disk is needed at TMPDIR.
 */
import { drillTus } from '../tus-drill.ts'

const [gibibytes = 5] = process.argv.slice(2).map(Number)
const GiB = 1024 ** 3
const size = gibibytes * GiB

const broken = await drillTus({
  size,
  breaks: ['cut', 'kill', 'cut', 'kill', 'cut', 'kill'],
  say: line => console.log(line),
})
const smooth = await drillTus({ size: Math.min(size, GiB), breaks: [] })
const rate = (bytes: number, seconds: number) => `${Math.round(bytes / seconds / 1024 ** 2)} MiB/s`
console.log(`with 3 kills and 6 broken connections: ${broken.seconds.toFixed(1)} s, ${rate(size, broken.seconds)}`)
console.log(`  sent ${broken.sent.toFixed(3)} times the file; at most ${Math.round(broken.memory)} MiB of memory`)
console.log(`without: ${rate(Math.min(size, GiB), smooth.seconds)}; at most ${Math.round(smooth.memory)} MiB of memory`)
