import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createLog } from '../../../src/runtime/log.ts'
import { mountSignIn } from '../../../src/sign-in/embedded/mount.ts'
import { startBuilt } from '../../support/built-service.ts'
import { rest, startApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-start-stop-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))

const silent = createLog({ logLevel: 'silent' })
const settings = () => ({
  DATA_DIR: mkdtempSync(join(dir, 'data-')),
})

describe('A starting instance', () => {
  const paths = [
    '/',
    '/login',
    '/auth/is_valid',
    '/auth/providers',
    '/share/x',
    '/invite/x',
    '/sign-in/x',
    '/graphql',
  ]

  it('responds only to health checks until every route is mounted, and to everything afterwards', async () => {
    const early: Record<string, [number, string | null]> = {}
    let graphql: unknown
    const t = await startApp(
      {},
      {
        // The start waits for this last, because it needs the port.
        async embeddedSignIn(publicUrl) {
          for (const path of [...paths, '/api/files/tree', '/healthz', '/readyz']) {
            const { status, headers } = await rest(publicUrl, 'GET', path)
            early[path] = [status, headers.get('retry-after')]
          }
          const asked = await fetch(`${publicUrl}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{"query":"{ me { id } }"}',
          })
          graphql = await asked.json()
          return mountSignIn({ publicUrl, secretKey: 'k'.repeat(32), dataDir: dir, log: silent })
        },
      },
    )
    try {
      const expected = Object.fromEntries(
        [...paths, '/api/files/tree'].map(path => [path, [503, '2']]),
      )
      expect(early).toEqual({ ...expected, '/healthz': [200, null], '/readyz': [503, '5'] })
      expect(graphql).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
      expect((await rest(t.url, 'GET', '/readyz')).status).toBe(200)
      for (const path of paths) expect((await rest(t.url, 'GET', path)).status).not.toBe(503)
      expect((await rest(t.url, 'GET', '/auth/is_valid')).status).toBe(200)
      expect(t.failures()).toEqual([])
    } finally {
      await t.stop()
    }
  })

  it('reports its version at /healthz, run from sources or from the build', async () => {
    const [t, service] = await Promise.all([startApp(), startBuilt(settings())])
    try {
      for (const { url } of [t, service])
        expect((await rest(url, 'GET', '/healthz')).response).toEqual({ alive: true, version })
    } finally {
      await Promise.all([t.stop(), service.end('SIGTERM')])
    }
  })
})

/**
 * A request on a kept connection: its status, whether the connection closes with the response, and
 * its local port.
 */
function ask(
  url: string,
  agent: Agent,
): Promise<{ status: number; closes: boolean; port: number }> {
  return new Promise((done, failed) => {
    const req = get(url, { agent }, res => {
      const port = res.socket.localPort ?? 0
      res
        .resume()
        .on('end', () =>
          done({ status: res.statusCode ?? 0, closes: res.headers.connection === 'close', port }),
        )
    }).on('error', failed)
    req.end()
  })
}

describe('A stopping instance', () => {
  it('serves for DRAIN_SECONDS while not ready, and closes connections after each response', async () => {
    const service = await startBuilt({ ...settings(), DRAIN_SECONDS: '3' })
    // Connections that a proxy keeps open. One is used meanwhile, and the other at the end.
    const [used, idle] = [
      new Agent({ keepAlive: true, maxSockets: 1 }),
      new Agent({ keepAlive: true, maxSockets: 1 }),
    ]
    const before = await ask(`${service.url}/auth/is_valid`, used)
    const kept = await ask(`${service.url}/auth/is_valid`, idle)
    expect([before.closes, kept.closes]).toEqual([false, false])

    const ended = service.end('SIGTERM')
    await until(async () => (await rest(service.url, 'GET', '/readyz')).status === 503)
    expect(await ask(`${service.url}/auth/is_valid`, used)).toEqual({
      status: 200,
      closes: true,
      port: before.port,
    })
    expect((await rest(service.url, 'GET', '/healthz')).status).toBe(200)
    await new Promise(resolve => setTimeout(resolve, 1000))
    expect(await ask(`${service.url}/auth/is_valid`, idle)).toEqual({
      status: 200,
      closes: true,
      port: kept.port,
    })
    expect(await ended).toBe(0)
    await expect(rest(service.url, 'GET', '/healthz')).rejects.toThrow()
  })

  it('exits even if the database hangs, and logs a job that failed', async () => {
    const t = await startApp()
    const { db, sweeper } = t.app
    const { stop } = sweeper
    const { close } = db
    sweeper.stop = async () => {
      await stop()
      throw new Error('The sweeper is stuck.')
    }
    db.close = () => new Promise(() => {})
    await t.app.stop()
    expect(t.logs()).toContain('The sweeper is stuck.')
    db.close = close
    await t.stop()
  })

  it('exits immediately at a second signal', async () => {
    const service = await startBuilt({ ...settings(), DRAIN_SECONDS: '60' })
    const first = service.end('SIGINT')
    await until(async () => (await rest(service.url, 'GET', '/readyz')).status === 503)
    const begun = performance.now()
    await Promise.all([first, service.end('SIGINT')])
    expect(performance.now() - begun).toBeLessThan(30_000)
  })
})

describe('The log', () => {
  const line = /"msg":"stopping/
  const words = /^\[\d\d:\d\d:\d\d\.\d+\] INFO: stopping/m
  const plain = (text: string) =>
    text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '')

  it.each<[string, RegExp, RegExp]>([
    ['auto', line, words],
    ['json', line, words],
    ['pretty', words, line],
  ])('follows LOG_FORMAT=%s when written to a pipe', async (LOG_FORMAT, is, isNot) => {
    const service = await startBuilt({ ...settings(), LOG_FORMAT, LOG_LEVEL: 'info' })
    await service.end('SIGTERM')
    expect(plain(service.said())).toMatch(is)
    expect(plain(service.said())).not.toMatch(isNot)
  })

  it('is human-readable on a terminal', async () => {
    const run = `exec ${process.execPath} ${resolve('src/main.ts')}`
    // script(1) provides a terminal.
    const child = spawn('script', ['--quiet', '--return', '--command', run, '/dev/null'], {
      cwd: dir,
      env: { PATH: process.env.PATH ?? '', PORT: '0', ...settings() },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', chunk => {
      said += chunk
    })
    await until(() => said.includes('Satchel is up'))
    const ended = new Promise(resolve => child.once('close', resolve))
    child.stdin.write('\x03')
    await ended
    expect(plain(said).replace('^C', '')).toMatch(words)
    expect(said).not.toMatch(line)
  })
})
