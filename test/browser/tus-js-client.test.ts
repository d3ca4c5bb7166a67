import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { blocksOf } from '../docs.ts'
import { signInTo } from '../harness.ts'
import { drillTus } from '../tus-drill.ts'
import { startService } from './service.ts'

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

it('does what docs/integrate.md shows, and says at once what is refused', async () => {
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
    // What was refused is not repeated: that takes fifty seconds.
    expect((await upload('satchel_none')).stderr).toMatch(/"status":401.*"code":"\w+"/)
  } finally {
    await db.close()
    await stop()
    rmSync(dir, { recursive: true })
  }
}, 30_000)
