import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { killPreviews } from '../kill-previews.ts'
import { rounds } from '../rounds.ts'
import { openSite, type UploadSite } from '../upload-site.ts'

let site: UploadSite

beforeAll(async () => {
  const azure = {
    connectionString: process.env.TEST_AZURE ?? '',
    container: `t${randomBytes(8).toString('hex')}`,
  }
  site = await openSite({ databaseUrl: '', azure }, { TRASH_DAYS: '0', VERSIONS_KEPT: '0', DERIVE_PROCESSES: '2' })
})
afterAll(() => site.close())

it('Previews of what is in Azure Blob Storage are made once and leave nothing behind, however often the service is killed', async () => {
  const kills = rounds(2, 10)
  const counts = await killPreviews({ site, kills, say: () => {} })
  expect(counts.kills).toBe(kills)
  expect(counts.made).toBeGreaterThan(0)
}, 600_000)
