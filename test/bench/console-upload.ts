/**
 * Uploads one large file through the console, during a reload, a kill of the service and a network
 * outage, and compares the stored file: `npm run bench:console-upload [-- GIBIBYTES [SECONDS]]`, by
 * default 5 and 60. Needs Chromium (CHROMIUM_PATH).
 */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { openBrowser, signIn, visit } from '../browser/browser.ts'
import { startService } from '../browser/service.ts'
import { until } from '../support/until.ts'
import { MiB } from './service.ts'

const [gibibytes = 5, downSeconds = 60] = process.argv.slice(2).map(Number)
const SIZE = gibibytes * 1024 * MiB
const NAME = 'large.bin'

process.env.TEST_CHROMIUM ??= process.env.CHROMIUM_PATH || '/usr/bin/chromium'
const folder = mkdtempSync(join(tmpdir(), 'satchel-large-'))
const path = join(folder, NAME)
const file = await open(path, 'w')
// Every block differs, so that no block can be mistaken for another.
const block = randomBytes(MiB)
for (let at = 0; at < SIZE; at += MiB) {
  block.writeBigUInt64LE(BigInt(at))
  await file.write(block)
}
await file.close()
const md5 = createHash('md5')
await finished(createReadStream(path).on('data', chunk => void md5.update(chunk)))
const expected = md5.digest('hex')

const service = await startService({}, { process: true })
const db = openDatabase(readConfig({ DATA_DIR: service.dataDir }).database, { pool: 1 })
await db.Plan.update(
  { maxFileSizeBytes: 2 ** 43, maxTotalStorageBytes: 2 ** 43 },
  { where: { id: 'free' } },
)
await db.close()
const browser = await openBrowser('whole')
const who = await visit(browser, service.url, { locale: 'en-GB' })
const { page, context } = who
await context.addInitScript('delete window.showOpenFilePicker; delete window.showDirectoryPicker')
page.on('dialog', dialog => dialog.accept())
await signIn(who, service.url, 'alice@example.com', '/files')

const dock = page.getByRole('region', { name: 'Uploads' })
const progress = async () =>
  Number(await dock.getByRole('progressbar').first().getAttribute('value'))
const began = performance.now()
const say = (what: string) =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`)

/** Uploads until this share has been sent. */
async function sentMoreThan(share: number): Promise<void> {
  await until(async () => (await progress().catch(() => 0)) > share, 3_600_000)
  say(`${Math.round((await progress()) * 100)} % have gone`)
}

async function choose(press: () => Promise<void>): Promise<void> {
  const picker = page.waitForEvent('filechooser')
  await press()
  await (await picker).setFiles(path)
}

await choose(async () => {
  await page.locator('.screen-head').getByRole('button', { name: 'Upload' }).click()
  await page.getByRole('menuitem', { name: 'Upload files' }).click()
})
await sentMoreThan(0.2)
await page.reload()
say('the page was loaded anew')
await choose(() => dock.getByRole('button', { name: 'Choose the file', exact: true }).click())
await sentMoreThan(0.4)
await service.restart()
say('the service was killed and started')
await sentMoreThan(0.6)
await context.setOffline(true)
say('the network is gone')
await new Promise(resolve => setTimeout(resolve, downSeconds * 1000))
await context.setOffline(false)
say('the network is back')
await dock
  .getByRole('heading', { name: '1 file uploaded', exact: true })
  .waitFor({ timeout: 3_600_000 })
say('the upload has ended')

const query = '{ me { drive { entry(path: "large.bin") { size ... on File { md5 } } } } }'
const { data } = await (
  await context.request.post(`${service.url}/graphql`, { data: { query } })
).json()
await browser.close()
await service.stop()
rmSync(folder, { recursive: true, force: true })
const { entry } = data.me.drive
if (entry?.md5 !== expected || entry.size !== SIZE)
  throw new Error(`It arrived as ${JSON.stringify(entry)}, not ${expected}`)
console.log(`${SIZE} bytes arrived as they were: ${expected}`)
