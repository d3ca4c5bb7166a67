import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newDatabase } from '../../support/harness.ts'
import { killPreviews } from '../../support/kill-previews.ts'
import { newStoreSettings } from '../../support/store-settings.ts'
import { openSite, type UploadSite } from '../../support/upload-site.ts'

declare const engine: 'sqlite' | 'mysql'

let database: Awaited<ReturnType<typeof newDatabase>>
let site: UploadSite

beforeAll(async () => {
  database = engine === 'mysql' ? await newDatabase() : { url: '', drop: async () => {} }
  site = await openSite(
    { databaseUrl: database.url, store: newStoreSettings() },
    { TRASH_DAYS: '0', VERSIONS_KEPT: '0', DERIVE_PROCESSES: '2' },
  )
})
afterAll(async () => {
  await site.close()
  await database.drop()
})

it('Previews are made once and leave no temporary files, however often the service and its processes are killed', async () => {
  const said: string[] = []
  const kills = 10
  const counts = await killPreviews({ site, kills, say: line => said.push(line) })
  expect(counts).toMatchObject({ kills, poolKills: expect.any(Number) })
  expect(counts.made).toBeGreaterThan(0)
  console.log(JSON.stringify(counts))
}, 600_000)
