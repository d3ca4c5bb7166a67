/**
 * The gallery of a drive with many pictures: `npm run bench:pictures -- [sqlite | mysql]`. Prints
 * how long a client waits for the monthly counts, and for pages at the top, from a month, from the
 * middle of a month and far down. PICTURES and FOLDERS make it smaller. One folder in twenty is in
 * the trash.
 */
import { insertPictures } from './picture-rows.ts'
import { median, startService } from './service.ts'

const [engine = 'sqlite'] = process.argv.slice(2)
if (engine !== 'sqlite' && engine !== 'mysql')
  throw new Error(`No such engine: ${engine}. Say sqlite or mysql.`)
const PICTURES = Number(process.env.PICTURES || 200_000)
const FOLDERS = Number(process.env.FOLDERS || 2000)
const ROUNDS = 15

const bench = await startService(engine)
const { url, cookie } = bench
await insertPictures(bench, PICTURES, { folders: FOLDERS })

async function ask<Data>(query: string): Promise<Data> {
  const body = JSON.stringify({ query: `{ me { drive { ${query} } } }` })
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie, 'x-graphql-yoga-csrf': 'bench' },
    body,
  })
  const { data, errors } = (await answer.json()) as {
    data?: { me: { drive: Data } }
    errors?: unknown
  }
  if (!data) throw new Error(JSON.stringify(errors))
  return data.me.drive
}

async function timed(what: string, query: () => string): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const since = performance.now()
    await ask(query())
    times.push(performance.now() - since)
  }
  console.log(
    `${what}: median ${median(times).toFixed(1)} ms, worst ${Math.max(...times).toFixed(1)} ms`,
  )
}

const { pictureMonths: months } = await ask<{ pictureMonths: { month: string; count: number }[] }>(
  'pictureMonths { month count }',
)
const shown = months.reduce((sum, { count }) => sum + count, 0)
console.log(`${engine}: ${shown} of ${PICTURES} pictures shown, in ${months.length} months`)
const nodes = '{ nodes { id name path size preview { state } } }'
const someMonth = () => months[Math.floor(Math.random() * (months.length - 1))]
function inMonth(skip: number): string {
  const [year = 0, month = 1] = (someMonth()?.month ?? '').split('-').map(Number)
  const at = (month: number) => new Date(Date.UTC(year, month)).toISOString()
  return `pictures(first: 100, since: "${at(month - 1)}", until: "${at(month)}", skip: ${skip}) ${nodes}`
}
await timed('counts of months', () => 'pictureMonths { month count }')
await timed('100 at the top', () => `pictures(first: 100) ${nodes}`)
await timed('100 of a month', () => inMonth(0))
await timed('100 from the middle of a month', () => inMonth(500))
await timed(
  '100 after 100,000',
  () => `pictures(first: 100, skip: ${Math.floor(PICTURES / 2)}) ${nodes}`,
)
await timed(
  'for comparison, 100 of a folder',
  () => `root { entries(first: 100) ${nodes.replace('preview { state }', '')} }`,
)
await bench.stop()
