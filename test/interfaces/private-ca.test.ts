import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { SMTPServer } from 'smtp-server'
import { readConfig } from '../../src/config/config.ts'
import { makeCa, type PrivateCa } from '../support/private-ca.ts'

let ca: PrivateCa
let dir: string
const urls: Record<string, string> = {}
const endings: (() => void)[] = []

beforeAll(async () => {
  ca = makeCa()
  dir = mkdtempSync(join(tmpdir(), 'satchel-private-ca-'))
  const files = ca.issue('server', ['DNS:localhost'])
  const pair = { cert: readFileSync(files.cert), key: readFileSync(files.key) }
  const web = createServer(pair, (_req, res) => res.end('{}'))
  // Responds to every Redis command with OK.
  const redis = createTlsServer(pair, socket => {
    socket.on('error', () => {})
    socket.on('data', data => {
      for (const _ of String(data).matchAll(/^\*\d/gm)) socket.write('+OK\r\n')
    })
  })
  const mail = new SMTPServer({
    ...pair,
    secure: true,
    authOptional: true,
    onData: (stream, _session, done) => void stream.resume().on('end', () => done()),
  })
  mail.on('error', () => {})
  for (const [name, scheme, server] of [
    ['web', 'https', web],
    ['redis', 'rediss', redis],
    ['mail', 'smtps', mail.server],
  ] as const) {
    server.on('tlsClientError', () => {})
    server.listen(0, 'localhost')
    await once(server, 'listening')
    urls[name] = `${scheme}://localhost:${(server.address() as AddressInfo).port}`
    endings.push(() => server.close())
  }
})

afterAll(() => {
  for (const end of endings) end()
  ca.remove()
  rmSync(dir, { recursive: true, force: true })
})

it('The command line trusts SATCHEL_CA_FILE', async () => {
  const ask = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, [resolve('src/cli/main.ts'), 'ls'], {
      env: { PATH: '', SATCHEL_URL: urls.web, SATCHEL_KEY: 'x', XDG_CONFIG_HOME: dir, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return text(child.stderr as Readable)
  }
  const untrusted = /UNABLE_TO_VERIFY|SELF_SIGNED/
  expect(await ask({})).toMatch(untrusted)
  expect(await ask({ SATCHEL_CA_FILE: ca.file })).not.toMatch(untrusted)
  expect(await ask({ SATCHEL_CA_FILE: join(dir, 'none') })).toMatch(
    /SATCHEL_CA_FILE: .*none cannot be read \(ENOENT/,
  )
  for (const [file, problem] of Object.entries(useless()))
    expect(await ask({ SATCHEL_CA_FILE: file })).toMatch(problem)
})

/** Files without a usable certificate, with the expected messages. */
function useless(): Record<string, RegExp> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const damaged = readFileSync(ca.file, 'utf8').replace(/[^-\n]{40}\n/, '\n')
  const texts: [string, string, RegExp][] = [
    ['empty', '', /has no certificate/],
    ['key', String(privateKey.export({ type: 'pkcs8', format: 'pem' })), /has no certificate/],
    ['damaged', damaged, /certificate 1 is damaged/],
  ]
  return Object.fromEntries(
    texts.map(([name, text, problem]) => {
      const file = join(dir, name)
      writeFileSync(file, text)
      return [file, problem]
    }),
  )
}

it('A start refuses a file of authorities without a certificate', () => {
  for (const [file, problem] of Object.entries(useless())) {
    expect(() => readConfig({ CA_FILE: file })).toThrow(problem)
    const database = {
      DATABASE_URL: 'mysql://root@localhost/satchel',
      DATABASE_TLS: 'verify-identity',
      DATABASE_CA_FILE: file,
    }
    expect(() => readConfig(database)).toThrow(problem)
  }
})

describe('A server with a certificate from a private authority', () => {
  it.each([
    ['fetch', 'web'],
    ['https', 'web'],
    ['redis', 'redis'],
    ['mail', 'mail'],
  ])(
    'is trusted by the client %s with CA_FILE in .env, and refused without',
    async (client, to) => {
      const ask = async (env: string) => {
        writeFileSync(join(dir, '.env'), env)
        const child = spawn(
          process.execPath,
          [resolve('test/support/ca-client.ts'), client, urls[to] ?? ''],
          { cwd: dir, env: { PATH: process.env.PATH ?? '' }, stdio: ['ignore', 'pipe', 'inherit'] },
        )
        const said = text(child.stdout as Readable)
        const [code] = await once(child, 'exit')
        return `${code} ${await said}`
      }
      expect(await ask('')).toMatch(/^1 .*(VERIFY|SIGNED|ISSUER|verify|certificate)/)
      expect(await ask(`CA_FILE=${ca.file}\n`)).toBe('0 ')
    },
  )
})
