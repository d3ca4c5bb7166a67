import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type BuiltService, startBuilt } from '../../support/built-service.ts'
import { documents, photos } from '../../tools/seed-content.ts'

async function run(...args: string[]): Promise<{ code: number; out: string; errors: string }> {
  const child = spawn(process.execPath, ['test/tools/seed.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, errors] = ['', '']
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    errors += chunk
  })
  const code = await new Promise<number>(resolve => child.on('close', resolve))
  return { code, out, errors }
}

describe('npm run seed', () => {
  let dir: string
  let service: BuiltService
  let args: string[]
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-seed-'))
    service = await startBuilt({ DATA_DIR: dir })
    args = ['--url', service.url.replace('127.0.0.1', 'localhost'), '--data', dir, '--photos', '6']
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    rmSync(dir, { recursive: true, force: true })
  })

  it('fills a new service with content that visitors can see, but only once', async () => {
    const { code, out, errors } = await run(...args)
    expect([code, errors]).toEqual([0, ''])
    const links = out.split('\n').filter(line => line.includes('/share/') || /\/r\w*\//.test(line))
    expect(links).toHaveLength(3)
    const page = await fetch(links[0] ?? '')
    expect(await page.text()).toContain('Our year in pictures')
    const again = await run(...args)
    expect([again.code, again.errors]).toEqual([
      1,
      'alice@example.com has folders already. Use a service with new data.\n',
    ])
  })

  it('makes the same bytes each time', async () => {
    const made = async () => {
      const files = documents()
      for await (const file of photos(3)) files.push(file)
      return files
    }
    expect(await made()).toEqual(await made())
  })

  it('says what is missing', async () => {
    expect((await run('--help')).out).toContain('npm run seed -- [--url URL]')
    const errorsOf = async (...given: string[]) => (await run(...given)).errors
    expect(await errorsOf('--photos', 'many')).toContain('--photos must be a whole number')
    expect(await errorsOf('--people', '9')).toContain("Unknown option '--people'")
    expect(await errorsOf('--data', join(dir, 'none'))).toContain('sign-in-word is missing')
    expect(await errorsOf('--url', 'http://localhost:1', '--data', dir)).toContain(
      'No service answers at http://localhost:1. Start one with npm start.',
    )
  })
})
