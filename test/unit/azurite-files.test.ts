import { describe, expect, it } from '@jest/globals'
import { type ExtentStore, sweepLate } from '../../src/embedded/azurite-files.ts'

describe('A sweep', () => {
  const swept: string[][] = []
  const told: string[] = []
  let arrive = () => {}
  let fail = (_error: Error) => {}
  const store = {
    activeWriteExtents: [{ id: 'in use' }],
    deleteExtents: async (ids: Iterable<string>) => swept.push([...ids]),
  } as unknown as ExtentStore
  const flush = () =>
    new Promise<void>((done, failed) => {
      arrive = done
      fail = failed
    })
  sweepLate(store, flush, line => told.push(line))

  it('waits until the disk knows what is deleted, and leaves what was in use when it began', async () => {
    const sweeping = store.deleteExtents(['in use', 'unused'])
    store.activeWriteExtents.length = 0
    expect(swept).toEqual([])
    arrive()
    await sweeping
    expect(swept).toEqual([['unused']])
  })

  it('is put off when the disk fails', async () => {
    const sweeping = store.deleteExtents(['unused too'])
    fail(new Error('ENOSPC'))
    expect(await sweeping).toBe(0)
    expect(swept).toEqual([['unused']])
    expect(told).toEqual([expect.stringContaining('ENOSPC')])
  })
})
