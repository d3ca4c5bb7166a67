import { describe } from '@jest/globals'
import { describeDeadStore } from '../dead-store.ts'
import { startRadosgw } from './radosgw.ts'
import { settingsFor } from './server.ts'

describe('A blob store', () => {
  describeDeadStore(async () => {
    const gateway = await startRadosgw()
    return { ...gateway, settings: settingsFor('dead-store', gateway) }
  })
})
