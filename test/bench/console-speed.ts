/**
 * The speed of the console with a folder of 100,000 files: the first paint and rows over a slow
 * connection, the time until the first rows, the largest paint on a processor that is four times as
 * slow, the smoothness of scrolling, and the memory that use adds:
 * `npm run bench:console-speed [-- MINUTES]` of use, by default 1. On a shared machine, only the
 * ratio of two alternating runs is meaningful.
 */
import type { Page } from 'playwright-core'
import { startBrowsing } from './browsing.ts'
import { insertFolder } from './folder.ts'
import { median, startService } from './service.ts'

const MINUTES = Number(process.argv[2] || 1)
const ROUNDS = Number(process.env.ROUNDS) || 15

const bench = await startService('sqlite')
await insertFolder(bench.db, bench, 'big', 100_000)
// The time of each step in milliseconds since the navigation, and the largest paint.
const script = `{
  const seen = { shell: '.shell:not(.frame)', rows: '[role=gridcell]' }
  window.marks = {}
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(seen))
      if (!(name in marks) && document.querySelector(selector)) marks[name] = performance.now()
  }).observe(document, { childList: true, subtree: true })
  new PerformanceObserver(list => list.getEntries().forEach(({ startTime }) => { marks.largest = startTime }))
    .observe({ type: 'largest-contentful-paint', buffered: true })
  new PerformanceObserver(list => { marks.paint = list.getEntriesByName('first-contentful-paint')[0]?.startTime ?? marks.paint })
    .observe({ type: 'paint', buffered: true })
}`
const { browser, page, devtools, heap, scroll } = await startBrowsing(bench, script)
const say = (what: string, times: number[], bound: string) =>
  console.log(
    `${what.padEnd(60)} ${median(times).toFixed(0).padStart(4)} ms, ${bound} (${times.map(time => time.toFixed(0)).join(' ')})`,
  )
const firstRow = () => page.getByRole('gridcell').first().waitFor()
const marksOf = (of: Page) => of.evaluate<Record<string, number>>('marks')

/**
 * The results of a function in each round, without the first two, in which caches are empty and the
 * service is cold.
 */
async function rounds(measure: () => Promise<number>): Promise<number[]> {
  const all: number[] = []
  for (let round = -2; round < ROUNDS; round++) {
    const figure = await measure()
    if (round >= 0) all.push(figure)
  }
  return all
}

async function loadFolder(): Promise<Record<string, number>> {
  await page.goto(`${bench.url}/files/big`)
  await firstRow()
  return marksOf(page)
}

/** The first visit from a slow telephone: 1.6 Mbit/s, 150 ms, a quarter of the processor. */
async function firstVisit(): Promise<Record<string, number>> {
  const { page: visit, devtools: slow, browser: own } = await startBrowsing(bench, script)
  await slow.send('Network.enable')
  await slow.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 200_000,
  })
  await slow.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  let requests = 0
  visit.on('request', () => requests++)
  await visit.goto(`${bench.url}/files/big`)
  await visit.getByRole('gridcell').first().waitFor()
  await visit.waitForTimeout(3000)
  const marks = await marksOf(visit)
  await own.close()
  return { ...marks, requests }
}

const visits: Record<string, number>[] = []
for (let i = 0; i < 5; i++) visits.push(await firstVisit())
const visited = (mark: string) => visits.map(visit => visit[mark] ?? Number.NaN)
say('First paint of a first visit, 1.6 Mbit/s, a slow processor', visited('paint'), 'aim 500')
say('First rows of it', visited('rows'), 'aim 1600')
console.log(`Requests of it: ${median(visited('requests'))}`)

say(
  'First rows when the page is loaded',
  await rounds(async () => (await loadFolder()).rows ?? Number.NaN),
  'aim 200',
)

const opened = await rounds(async () => {
  await page.goto(`${bench.url}/files`)
  const folder = page
    .getByRole('row', { name: 'big' })
    .or(page.getByRole('gridcell', { name: 'big' }))
    .first()
  await folder.waitFor()
  await page.waitForTimeout(500)
  const row = '[role=row], [role=gridcell]'
  return page.evaluate<number>(`new Promise(resolve => {
    const since = performance.now()
    new MutationObserver((_, observer) => {
      if (![...document.querySelectorAll('${row}')].some(one => one.textContent.includes('file-000000'))) return
      observer.disconnect()
      resolve(performance.now() - since)
    }).observe(document, { childList: true, subtree: true })
    const [folder] = [...document.querySelectorAll('a, [role=row]')].filter(one => one.textContent.includes('big'))
    const at = folder.getBoundingClientRect()
    folder.dispatchEvent(new MouseEvent('dblclick', { bubbles: true, clientX: at.x + 5, clientY: at.y + 5 }))
    if (folder.matches('a')) folder.click()
  })`)
})
say('First rows when the folder is opened in the console', opened, 'aim 200')

await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
const painted = await rounds(async () => {
  await page.goto(`${bench.url}/files`)
  await page.getByText('big').first().waitFor()
  await page.waitForTimeout(500)
  return (await marksOf(page)).largest ?? Number.NaN
})
await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 })
say('Largest contentful paint, the processor four times as slow', painted, 'aim 1000')

await loadFolder()
await page.waitForTimeout(500)
await scroll('Scrolling', 200, 600)

/** Uses the console: folder, list, details, search, activity. */
async function use(): Promise<void> {
  await page.getByRole('link', { name: 'My files' }).first().click()
  await page.getByText('big').first().dblclick()
  await page.getByText('file-000000').first().click()
  for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 2000)
  await page.waitForTimeout(300)
  await page.getByRole('link', { name: 'Trash' }).first().click()
  await page.waitForTimeout(300)
}

await page.goto(`${bench.url}/files`)
for (let i = 0; i < 3; i++) await use()
const before = await heap()
let times = 0
for (const end = performance.now() + MINUTES * 60_000; performance.now() < end; times++) await use()
const after = await heap()
console.log(
  `Memory: ${before.toFixed(1)} MB of scripts, ${after.toFixed(1)} after ${times} rounds in ${MINUTES} minutes (${(after - before).toFixed(1)} more, aim 20)`,
)
await browser.close()
await bench.stop()
