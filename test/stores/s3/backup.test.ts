import { expect } from '@jest/globals'
import { createS3Store } from '../../../src/storage/s3.ts'
import { testBackupsOf } from '../../support/store-backup.ts'
import { serverOf } from './server.ts'

testBackupsOf({
  makeStore: () =>
    createS3Store({
      ...serverOf(),
      bucket: `b${Date.now()}`,
      region: 'us-east-1',
      pathStyle: true,
      publicUrl: '',
    }),
  // Unlike containers, buckets may be shared with other programs, so unknown objects may belong to
  // someone else.
  async expectStranger(restore, removeStranger) {
    await expect(restore({ deleteExisting: true })).rejects.toThrow('files of unknown origin')
    await removeStranger()
    expect(await restore()).toMatchObject({ copied: 3, lost: 0, warnings: [] })
  },
})
