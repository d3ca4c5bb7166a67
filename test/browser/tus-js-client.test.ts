import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { Upload } from 'tus-js-client'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { blocksOf } from '../support/docs.ts'
import { signInTo } from '../support/harness.ts'
import { storedBytes } from '../support/tus-client.ts'
import { drillTus } from '../support/tus-drill.ts'
import { startService } from './service.ts'

// Runs without a page, but needs a package that only the browser tests install, for Uppy.
const MiB = 1024 * 1024

it('tus-js-client sends a file byte for byte despite broken connections and a killed service', async () => {
  const { sent } = await drillTus({
    size: 24 * MiB,
    breaks: ['cut', 'kill', 'cut'],
    settings: { UPLOAD_PART_BYTES: String(MiB) },
  })
  // Parts in transit are sent again, but no received part is.
  expect(sent).toBeLessThan(2)
})

it('tus-js-client sends parallel chunks of any size, which the service joins', async () => {
  await drillTus({
    size: 5 * MiB + 321,
    breaks: ['cut'],
    options: { parallelUploads: 3, chunkSize: 300_000 },
    settings: { UPLOAD_PART_BYTES: '262144' },
  })
})

it('tus-js-client sends a stream of unknown length', async () => {
  const part = 65_536
  const { url, dataDir, stop } = await startService({ UPLOAD_PART_BYTES: String(part) })
  const db = openDatabase(readConfig({ DATA_DIR: dataDir }).database, { pool: 1 })
  try {
    const alice = await signInTo(db, url, 'alice')
    for (const size of [2 * part, 2 * part + 1234]) {
      const filename = `${size}.bin`
      const bytes = randomBytes(size)
      await new Promise<void>((resolve, reject) =>
        new Upload(Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)]), {
          endpoint: `${url}/api/tus`,
          headers: { cookie: alice.cookie },
          metadata: { filename },
          chunkSize: part,
          uploadLengthDeferred: true,
          retryDelays: [],
          onSuccess: () => resolve(),
          onError: reject,
        }).start(),
      )
      expect(await storedBytes(url, alice, filename)).toEqual(bytes)
    }
  } finally {
    await db.close()
    await stop()
  }
})

it('tus-js-client works as in docs/integrate.md, and reports a refusal at once', async () => {
  const { url, dataDir, stop } = await startService()
  const db = openDatabase(readConfig({ DATA_DIR: dataDir }).database, { pool: 1 })
  const dir = mkdtempSync(join(tmpdir(), 'satchel-tus-example-'))
  try {
    const { cookie } = await signInTo(db, url, 'alice')
    const made = await fetch(`${url}/api/api_keys/private/create`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'tus', scopes: ['private_files:write'] }),
    })
    const { response } = (await made.json()) as { response: { api_key: { key: string } } }
    const [, example] = blocksOf('docs/integrate.md', '### Uploads by tus')
    writeFileSync(
      join(dir, 'upload.mjs'),
      example?.text.replace('https://files.example.org', url) ?? '',
    )
    writeFileSync(join(dir, 'film.mp4'), 'film')
    symlinkSync(
      fileURLToPath(new URL('../node_modules', import.meta.url)),
      join(dir, 'node_modules'),
    )
    const upload = (SATCHEL_KEY: string) =>
      promisify(execFile)(process.execPath, ['upload.mjs'], {
        cwd: dir,
        env: { ...process.env, SATCHEL_KEY },
      })
    expect((await upload(response.api_key.key)).stdout).toMatch(/^[0-9a-f-]{36}\n$/)
    // A refused request is not retried, which would take fifty seconds.
    expect((await upload('satchel_none')).stderr).toMatch(/"status":401.*"code":"\w+"/)
  } finally {
    await db.close()
    await stop()
    rmSync(dir, { recursive: true })
  }
})
