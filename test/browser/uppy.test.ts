import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { build, type Rolldown } from 'vite'
import { until } from '../support/until.ts'
import { startWorld, type World } from './share-world.ts'

let w: World
beforeAll(async () => {
  w = await startWorld()
}, 120_000)
afterAll(() => w?.stop())

/** The page, as an author would build it. */
async function scriptOf(entry: string): Promise<string> {
  const built = (await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    build: { write: false, minify: false, lib: { entry, formats: ['iife'], name: 'page' } },
    define: { 'process.env.NODE_ENV': '"production"' },
  })) as Rolldown.RolldownOutput[]
  const [chunk] = built[0]?.output ?? []
  if (!chunk) throw new Error('Nothing was built.')
  return chunk.code
}

it('Uppy resumes after a reload of the page, and the file arrives intact', async () => {
  const { page, context } = w.alice
  const url = `${w.service.url}/uppy`
  const script = await scriptOf(join(import.meta.dirname, 'uppy-page.js'))
  const html = `<!doctype html><title>Uppy</title><input type="file"><script>${script}</script>`
  await page.route(url, route => route.fulfill({ contentType: 'text/html', body: html }))
  // Slow enough to interrupt.
  await page.route('**/api/tus/*', async route => {
    await sleep(100)
    await route.continue().catch(() => {})
  })
  const requests: string[] = []
  page.on('request', request => {
    if (request.url().includes('/api/tus')) requests.push(request.method())
  })
  const bytes = randomBytes(9_500_000)
  const path = join(w.service.dataDir, 'large.bin')
  await writeFile(path, bytes)
  const choose = () => page.locator('input').setInputFiles(path)
  const shown = () =>
    page.evaluate('shown') as Promise<{ uploaded: number; done: string[]; failed: string[] }>

  await page.goto(url)
  await choose()
  await until(async () => (await shown()).uploaded > 3_000_000)
  await page.reload()
  await choose()
  await until(async () => (await shown()).done.length > 0)
  expect((await shown()).failed).toEqual([])
  expect(requests.filter(method => method === 'POST')).toEqual(['POST'])
  expect(requests).toContain('HEAD')
  // Received parts were not sent again.
  expect(requests.filter(method => method === 'PATCH').length).toBeLessThanOrEqual(12)

  const data = { object: 'from uppy/large.bin' }
  const shared = await context.request.post(`${w.service.url}/api/files/quick_share`, { data })
  const { sharing_token: token } = (await shared.json()).response
  const found = await (await context.request.get(`${w.service.url}/api/d/${token}`)).body()
  const sha256 = (some: Buffer) => createHash('sha256').update(some).digest('hex')
  expect(sha256(found)).toBe(sha256(bytes))
}, 120_000)
