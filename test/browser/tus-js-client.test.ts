import { expect, it } from '@jest/globals'
import { drillTus } from '../tus-drill.ts'

// Not in a page, but with a package that only the tests in the browser install: Uppy needs it.
const MiB = 1024 * 1024

it('tus-js-client sends a file past broken connections and a killed service, byte for byte', async () => {
  const { sent } = await drillTus({
    size: 24 * MiB,
    breaks: ['cut', 'kill', 'cut'],
    settings: { UPLOAD_PART_BYTES: String(MiB) },
  })
  // What was under way is sent again, and not what has arrived.
  expect(sent).toBeLessThan(2)
}, 120_000)

it('and in chunks that fit no part, several at a time, which the service joins', async () => {
  await drillTus({
    size: 5 * MiB + 321,
    breaks: ['cut'],
    options: { parallelUploads: 3, chunkSize: 300_000 },
    settings: { UPLOAD_PART_BYTES: '262144' },
  })
}, 120_000)
