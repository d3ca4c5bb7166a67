import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newDatabase } from '../../support/harness.ts'
import { killCopies } from '../../support/kill-copies.ts'
import { openSite, type UploadSite } from '../../support/upload-site.ts'

declare const engine: 'sqlite' | 'mysql'

let database: Awaited<ReturnType<typeof newDatabase>>
let site: UploadSite

beforeAll(async () => {
  database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  site = await openSite({ databaseUrl: database.url }, { TRASH_DAYS: '0' })
})
afterAll(async () => {
  await site.close()
  await database.drop()
})

it('Background copies are complete, made once and counted exactly, however often the service is killed', async () => {
  const said: string[] = []
  const kills = 6
  const counts = await killCopies({ site, kills, say: line => said.push(line) })
  expect(counts.kills).toBe(kills)
  expect(counts.done + counts.failed + counts.cancelled).toBeGreaterThan(0)
}, 300_000)
