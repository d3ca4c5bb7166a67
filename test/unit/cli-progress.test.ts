import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ended, openShell, program, type Shell } from '../support/command-line.ts'
import { until } from '../support/until.ts'
import { type FakeService, startFakeService } from './fake-service.ts'

const SIZE = 9 * 1024 * 1024

let service: FakeService
let shell: Shell
/** Makes the service respond that the upload is complete. */
let finish: (md5: string) => void

beforeAll(async () => {
  const file = new Promise<{ md5: string }>(answer => {
    finish = md5 => answer({ md5 })
  })
  service = await startFakeService({
    fields: {
      uploadSession: {
        id: 'upload',
        chunkSize: SIZE,
        partCount: 1,
        expiresAt: '2030-01-01T00:00:00.000Z',
      },
      'UploadCompletion.file': () => file,
      'UploadCompletion.failure': null,
      'UploadCompletion.state': 'COMPLETED',
    },
    listener: (req, res) => {
      if (req.method !== 'PUT') return false
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"status":200,"msg":"ok","response":{}}')
      return true
    },
  })
  shell = openShell({ SATCHEL_URL: service.url, SATCHEL_KEY: 'key' })
  writeFileSync(join(shell.home, 'big.bin'), Buffer.alloc(SIZE))
})
afterAll(async () => {
  shell?.close()
  await service?.close()
})

it('The progress bar of put shows that the service is verifying the complete upload', async () => {
  const command = `${process.execPath} ${program} put big.bin`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: shell.home,
    env: { ...shell.env, TERM: 'xterm' },
  })
  let seen = ''
  child.stdout.on('data', chunk => {
    seen += chunk
  })
  const done = ended(child)
  await until(() => seen.includes('· checking') || child.exitCode !== null)
  expect(seen).toContain('9 MiB · checking')
  finish('text')
  expect((await done).code).toBe(1)
  expect(seen).toContain('DIGEST_DIFFERS')
})
