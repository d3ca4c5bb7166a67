import { expect } from '@jest/globals'
import { createAzureStore } from '../../../src/storage/azure.ts'
import { testBackupsOf } from '../../support/store-backup.ts'

testBackupsOf({
  makeStore: () =>
    createAzureStore({
      connectionString: process.env.TEST_AZURE ?? '',
      container: `b${Date.now()}`,
      publicUrl: '',
    }),
  async expectStranger(restore) {
    await expect(restore()).rejects.toThrow('has blobs that the backup does not have')
    expect(await restore({ deleteExisting: true })).toMatchObject({ copied: 3, deleted: 1 })
  },
})
