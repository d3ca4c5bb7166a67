import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { readConfig } from '../../src/config/config.ts'
import { startApp, type TestApp } from '../support/harness.ts'

let t: TestApp

beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t.stop())

const CONNECTIONS = 100
const MIB = 1024 * 1024

/**
 * Opens connections that request without reading, and returns them once each response has begun.
 */
async function askWithoutReading(
  path: string,
  accept: string,
  encoding: string,
): Promise<Socket[]> {
  const { hostname, port } = new URL(t.url)
  const request = `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: ${accept}\r\nAccept-Encoding: ${encoding}\r\n\r\n`
  return Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(request)
      await new Promise(resolve => socket.once('readable', resolve))
      return socket
    }),
  )
}

/**
 * The memory of this process outside the JavaScript heap, which holds outgoing texts and buffers.
 */
const held = () => {
  const { arrayBuffers, external, rss } = process.memoryUsage()
  return { buffers: (arrayBuffers + external) / MIB, rss: rss / MIB }
}

/** The paths of a page's files, whose names change with their contents. */
async function pathsIn(page: string): Promise<string[]> {
  const html = await (await fetch(t.url + page)).text()
  return [...html.matchAll(/(?:src|href)="(\/pages\/[^"]+)"/g)].flatMap(([, path]) => path ?? [])
}

describe('A response that is the same for every caller', () => {
  it.each([
    ['/graphql', 'text/html'],
    ['/api/docs', 'text/html'],
    ['/api/docs/swagger-ui-bundle.js', '*/*'],
    ['/api/docs/swagger-ui.css', '*/*'],
    ['/api/openapi.json', '*/*'],
    ['/favicon.svg', '*/*'],
  ])('is held in memory once, even if nobody reads it: %s', async (path, accept) => {
    for (const encoding of ['gzip, br', 'identity', 'gzip;q=0']) {
      const headers = { accept, 'accept-encoding': encoding }
      const first = await fetch(t.url + path, { headers })
      const bytes = (await first.arrayBuffer()).byteLength
      expect([path, first.status, bytes > 100]).toEqual([path, 200, true])
      if (encoding !== 'gzip, br') expect(first.headers.get('content-encoding')).toBeNull()
      const before = held()
      const sockets = await askWithoutReading(path, accept, encoding)
      await sleep(300)
      const during = held()
      for (const socket of sockets) socket.destroy()
      // Without sharing, the GraphiQL page would use 890 MB.
      expect(during.buffers - before.buffers).toBeLessThan(24)
      expect(during.rss - before.rss).toBeLessThan(150)
    }
  })

  it('is compressed for clients that support it', async () => {
    const pages = await pathsIn('/login')
    expect(pages.length).toBeGreaterThan(0)
    for (const path of [
      '/graphql',
      '/api/docs/swagger-ui-bundle.js',
      '/api/openapi.json',
      ...pages,
    ]) {
      const ask = (encoding: string) =>
        fetch(t.url + path, { headers: { accept: 'text/html', 'accept-encoding': encoding } })
      const [packed, plain] = [await ask('gzip'), await ask('identity')]
      expect([path, packed.headers.get('content-encoding')]).toEqual([path, 'gzip'])
      expect([path, plain.headers.get('content-encoding')]).toEqual([path, null])
      expect(Number(packed.headers.get('content-length'))).toBeLessThan(
        Number(plain.headers.get('content-length')) / 2,
      )
      expect(packed.headers.get('vary')).toContain('Accept-Encoding')
      expect(await packed.text()).toBe(await plain.text())
    }
  })
})

describe('GraphiQL', () => {
  const production = {
    NODE_ENV: 'production',
    SECRET_KEY: 'x'.repeat(40),
    OAUTH_A_CLIENT_ID: 'a',
    OAUTH_A_CLIENT_SECRET: 'a',
    OAUTH_A_AUTHORIZE_URL: 'https://a.example/authorize',
    OAUTH_A_TOKEN_URL: 'https://a.example/token',
    OAUTH_A_USERINFO_URL: 'https://a.example/me',
  }

  it('is served in development, and in production only when enabled', () => {
    expect(readConfig({}).graphiql).toBe(true)
    expect(readConfig({ GRAPHIQL: 'false' }).graphiql).toBe(false)
    expect(readConfig(production).graphiql).toBe(false)
    expect(readConfig({ ...production, GRAPHIQL: 'true' }).graphiql).toBe(true)
  })
})
