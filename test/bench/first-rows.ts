/**
 * How soon the console shows the first rows of a folder with 100,000 files, its scripts in the browser's cache: `npm run bench:first-rows`.
 * On a shared machine only the ratios of two runs by turns mean something.
 */
import { chromium } from 'playwright-core'
import { insertFolder } from './folder.ts'
import { median, startService } from './service.ts'

const ROUNDS = Number(process.env.ROUNDS) || 15

const bench = await startService('sqlite')
await insertFolder(bench.db, bench, 'big', 100_000)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH || '/usr/bin/chromium' })
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
const [name = '', value = ''] = bench.cookie.split('=')
await context.addCookies([{ name, value, url: bench.url }])
// When each thing is there, in milliseconds from the navigation on.
await context.addInitScript(`{
  const seen = { shell: '.shell', rows: '[role=gridcell]' }
  window.marks = {}
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(seen))
      if (!(name in marks) && document.querySelector(selector)) marks[name] = performance.now()
  }).observe(document, { childList: true, subtree: true })
}`)
const page = await context.newPage()
const found: Record<string, number[]> = {}
for (let round = -2; round < ROUNDS; round++) {
  await page.goto(`${bench.url}/files/big`)
  await page.getByRole('gridcell').first().waitFor()
  const marks = await page.evaluate<Record<string, number>>(`({
    page: performance.getEntriesByType('navigation')[0].responseEnd,
    ...Object.fromEntries(performance.getEntriesByType('resource').flatMap(({ name, startTime, responseEnd }) => {
      const [, of = 'query'] = /assets\\/(base|files)-.*js$/.exec(name) ?? []
      return name.endsWith('/graphql') || of !== 'query' ? [[of + ' asked', startTime], [of + ' answered', responseEnd]] : []
    })),
    ...marks,
  })`)
  // The first times, the cache is empty and the service cold.
  if (round >= 0) for (const [name, at] of Object.entries(marks)) found[name] = [...(found[name] ?? []), at]
}
for (const [name, times] of Object.entries(found))
  process.stdout.write(
    `${name.padEnd(12)} ${median(times).toFixed(0)} ms (${times.map(time => time.toFixed(0)).join(' ')})\n`,
  )
await browser.close()
await bench.stop()
