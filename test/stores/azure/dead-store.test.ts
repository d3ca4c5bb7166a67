import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'
import { describeDeadStore } from '../dead-store.ts'
import { startAzurite } from './azurite.ts'

describe('A blob store', () => {
  describeDeadStore(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'satchel-dead-azurite-'))
    let azurite = await startAzurite({ dir })
    const { connectionString } = azurite
    const port = Number(/:(\d+)\//.exec(connectionString)?.[1])
    return {
      settings: { AZURE_STORAGE_CONNECTION_STRING: connectionString },
      pid: () => azurite.pid,
      end: () => azurite.stop(),
      async begin() {
        azurite = await startAzurite({ dir, port })
      },
      async stop() {
        await azurite.stop()
        rmSync(dir, { recursive: true, force: true })
      },
    }
  })
})
