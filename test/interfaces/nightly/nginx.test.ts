import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../../db/index.ts'
import { privateScopes } from '../../../src/access/scopes.ts'
import { readConfig } from '../../../src/config/config.ts'
import { launch, runBuilt } from '../../support/built-service.ts'
import { basic } from '../../support/dav-client.ts'
import { freePort } from '../../support/free-port.ts'
import { newDatabase, type Person, signInTo } from '../../support/harness.ts'
import { startNginx } from '../../support/nginx.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const GIB = 1024 ** 3
const hasNginx = spawnSync('nginx', ['-v']).status === 0

let dir: string
let database: Awaited<ReturnType<typeof newDatabase>>
let service: ReturnType<typeof launch>
let inner: string
let nginx: Awaited<ReturnType<typeof startNginx>>
let url: string
let alice: Person

/** curl, which trusts the certificate of this test. It prints the status after the body. */
const curl = (...args: string[]) =>
  run('curl', [
    ...['--silent', '--show-error', '--cacert', join(dir, 'cert.pem')],
    ...['--header', `Cookie: ${alice.cookie}`, '--header', `Origin: ${url}`],
    ...['--write-out', '\n%{http_code}'],
    ...args,
  ]).then(({ stdout }) => {
    const end = stdout.lastIndexOf('\n')
    return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) }
  })

;(hasNginx ? describe : describe.skip)('Behind nginx with docker/nginx.conf', () => {
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'satchel-nginx-'))
    const port = await freePort()
    url = `https://localhost:${port}`
    database = await newDatabase()
    const settings = {
      DATA_DIR: mkdtempSync(join(dir, 'data-')),
      DATABASE_URL: database.url,
      PUBLIC_URL: url,
      TRUST_PROXY: 'loopback',
      PORT: String(await freePort()),
    }
    inner = `http://127.0.0.1:${settings.PORT}`
    service = launch('main.ts', [], settings)
    await until(async () => (await fetch(`${inner}/healthz`).catch(() => undefined))?.ok)
    const db = openDatabase(readConfig({ DATABASE_URL: database.url }).database, { pool: 2 })
    alice = await signInTo(db, inner, 'alice').finally(() => db.close())
    for (const limit of ['max_file_size_bytes', 'max_total_storage_bytes']) {
      const set = ['set-limit', alice.userId, limit, '3GiB']
      expect(await runBuilt('admin.ts', set, settings)).toMatchObject({ code: 0 })
    }
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
        ...['-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')],
        ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ],
      { stdio: 'ignore' },
    )
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
    nginx = await startNginx({
      dir,
      host: 'localhost',
      port,
      inner: new URL(inner).host,
      cert,
      key,
    })
    await until(async () => (await curl(`${url}/healthz`).catch(() => undefined))?.status === 200)
  })
  afterAll(async () => {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
    service.kill('SIGTERM')
    await once(service, 'exit')
    await database.drop()
    rmSync(dir, { recursive: true, force: true })
  })

  it('streams an upload and a download of 2 GiB', async () => {
    const bytes = 2 * GIB
    const file = join(dir, 'film.bin')
    writeFileSync(file, 'begin')
    truncateSync(file, bytes)
    const buffered = new Set<string>()
    const watch = setInterval(() => {
      for (const folder of ['client_body', 'proxy'])
        for (const name of readdirSync(join(dir, folder))) buffered.add(`${folder}/${name}`)
    }, 50)
    const sent = await curl('--form', `file=@${file}`, `${url}/api/files/upload`)
    expect(sent).toMatchObject({ status: 200 })
    rmSync(file)
    const token = await alice.rest('POST', '/api/user/private/download_token?file=film.bin')
    const path = `/api/d/private/${token.response.private_download_token}`
    const received = await run('sh', [
      '-c',
      `curl --silent --fail --location --cacert "$1/cert.pem" --header "Cookie: $2" "$3" | wc -c`,
      ...['sh', dir, alice.cookie, `${url}${path}`],
    ])
    clearInterval(watch)
    expect(Number(received.stdout)).toBe(bytes)
    expect([...buffered]).toEqual([])
  }, 300_000)

  it('forwards events immediately', async () => {
    const query = JSON.stringify({ query: 'subscription { driveChanged { id } }' })
    const client = spawn('curl', [
      ...['--silent', '--no-buffer', '--cacert', join(dir, 'cert.pem')],
      ...['--header', `Cookie: ${alice.cookie}`, '--header', `Origin: ${url}`],
      ...['--header', 'Accept: text/event-stream', '--header', 'Content-Type: application/json'],
      ...['--data', query, `${url}/graphql`],
    ])
    let said = ''
    client.stdout.on('data', chunk => {
      said += chunk
    })
    await until(() => said.includes(':'))
    expect(said).not.toContain('driveChanged')
    await alice.upload('note.txt', 'hello')
    await until(() => said.includes('"driveChanged"'))
    client.kill()
    await once(client, 'exit')
  })

  it("moves files by WebDAV with the proxy's host in the Destination header", async () => {
    await alice.upload('from.txt', 'text')
    const made = await alice.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'files', scopes: privateScopes },
    })
    const authorization = basic(alice.email, made.response.api_key.key)
    const dav = (...args: string[]) =>
      run('curl', [
        ...['--silent', '--cacert', join(dir, 'cert.pem'), '--write-out', '%{http_code}'],
        ...['--header', `Authorization: ${authorization}`, ...args],
      ]).then(({ stdout }) => stdout)
    const listed = await dav('--request', 'PROPFIND', '--header', 'Depth: 1', `${url}/dav/`)
    expect(listed).toContain('207')
    const [, drive = ''] = /<d:href>(\/dav\/[^<]+)<\/d:href>/.exec(listed) ?? []
    const [from, to] = ['from.txt', 'to.txt'].map(name => url + drive + name) as [string, string]
    expect(await dav('--request', 'MOVE', '--header', `Destination: ${to}`, from)).toBe('201')
    expect(await dav(to)).toBe('text200')
    const other = to.replace('localhost', 'files.example.com')
    expect(await dav('--request', 'MOVE', '--header', `Destination: ${other}`, to)).toMatch(/502$/)
  })
})
