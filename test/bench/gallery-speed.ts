/**
 * The gallery of the console with many pictures, in Chromium: the time until the first pictures,
 * the smoothness of scrolling and jumping, and the added memory: `npm run bench:gallery-speed`.
 * PICTURES makes it smaller. All pictures are one photo, which the browser loads separately for
 * each.
 */
import sharp from 'sharp'
import { until } from '../support/until.ts'
import { startBrowsing } from './browsing.ts'
import { insertPictures } from './picture-rows.ts'
import { median, startService } from './service.ts'

const PICTURES = Number(process.env.PICTURES || 200_000)
const ROUNDS = Number(process.env.ROUNDS || 7)
const JUMPS = 30

const bench = await startService('sqlite')
const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
const photo = await sharp({
  create: { width: 320, height: 240, channels: 3, background: '#000', noise },
})
  .resize(1280)
  .jpeg()
  .toBuffer()
const form = new FormData()
form.append('file', new File([new Uint8Array(photo)], 'photo.jpg', { type: 'image/jpeg' }))
const uploaded = await fetch(`${bench.url}/api/files/upload`, {
  method: 'POST',
  headers: { cookie: bench.cookie },
  body: form,
})
if (!uploaded.ok) throw new Error(await uploaded.text())
const [{ blobId = '' } = {}] = await until(async () => {
  const rows = await bench.db.rows<{ blobId: string }>(
    "SELECT b.id AS blobId FROM blobs b JOIN preview p ON p.digest = b.sha256 AND p.state = 'made'",
  )
  return rows.length > 0 && rows
})
await insertPictures(bench, PICTURES, { folders: Math.ceil(PICTURES / 100), blobId })

const { browser, page, heap, scroll } = await startBrowsing(bench)
const shown = '.picture-tile img'
const count = `[...document.querySelectorAll('${shown}')].filter(one => one.complete && one.naturalWidth).length`
// Not waitForFunction, because it evaluates code in the page, which the content security policy
// forbids.
const isShown = async () => {
  while ((await page.evaluate<number>(count)) < 10) await page.waitForTimeout(5)
}
const first: number[] = []
for (let round = -1; round < ROUNDS; round++) {
  const since = performance.now()
  await page.goto(`${bench.url}/pictures`)
  await isShown()
  if (round >= 0) first.push(performance.now() - since)
}
console.log(`${PICTURES} pictures: the first ten are there after ${median(first).toFixed(0)} ms`)
const elements = () => page.evaluate<number>('document.querySelectorAll("*").length')
const [before, elementsBefore] = [await heap(), await elements()]
await scroll('Scrolling', 200, 600)
await scroll('Scrolling fast', 200, 6000)

const scrubber = page.getByRole('slider', { name: 'Months' })
const box = await scrubber.boundingBox()
if (!box) throw new Error('There is no scrubber.')
const jumps: number[] = []
for (let jump = 0; jump < JUMPS; jump++) {
  const at = box.y + 4 + ((box.height - 8) * ((jump * 7) % JUMPS)) / JUMPS
  const since = performance.now()
  await page.mouse.click(box.x + box.width / 2, at)
  await page.waitForTimeout(20)
  await isShown()
  jumps.push(performance.now() - since)
}
console.log(
  `Jumping to a month: pictures after ${median(jumps).toFixed(0)} ms, worst ${Math.max(...jumps).toFixed(0)} ms (80 ms of rest before they are asked for)`,
)
await page.waitForTimeout(1000)
const after = await heap()
console.log(
  `Memory: ${before.toFixed(1)} MB of scripts and ${elementsBefore} elements; after all of this ${after.toFixed(1)} MB and ${await elements()}`,
)
await browser.close()
await bench.stop()
