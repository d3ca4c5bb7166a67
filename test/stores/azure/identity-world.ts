import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'

const program = resolve('test/azurite/node_modules/azurite/dist/src/blob/main.js')
const tenant = '11111111-2222-4333-8444-555555555555'

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Azurite with https that accepts tokens (`--oauth basic`), and the two services that issue them:
 * the endpoint of managed identities (App Service), and an authority for client secrets and
 * workload identities. Azurite checks the times, issuer and audience of a token, but not its
 * signature.
 */
export async function startAzureWorld(lifeSeconds = 30) {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-entra-'))
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      ...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost'.split(' '),
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert],
    ],
    { stdio: 'ignore' },
  )
  const world = {
    lifeSeconds,
    isDown: false,
    /** The token requests. */
    asked: [] as string[],
    cert,
    accountUrl: '',
    managed: {} as Record<string, string>,
    secret: {} as Record<string, string>,
    workload: {} as Record<string, string>,
    close: async () => {},
  }
  const token = () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      aud: 'https://storage.azure.com',
      iss: `https://sts.windows.net/${tenant}/`,
      iat: now,
      nbf: now - 5,
      exp: now + world.lifeSeconds,
      oid: tenant,
      tid: tenant,
    }
    return `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}.c2lnbmF0dXJl`
  }
  const json = (res: ServerResponse, status: number, value: unknown) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
    const { url = '', headers } = req
    const body = Buffer.concat(await req.toArray()).toString()
    world.asked.push(url)
    if (world.isDown) return json(res, 503, { error: 'temporarily_unavailable' })
    if (url.startsWith('/msi/token')) {
      if (headers['x-identity-header'] !== 'the-header') return res.writeHead(401).end()
      const expires_on = Math.floor(Date.now() / 1000) + world.lifeSeconds
      return json(res, 200, {
        access_token: token(),
        expires_on: String(expires_on),
        resource: 'https://storage.azure.com',
        token_type: 'Bearer',
      })
    }
    const authority = `https://localhost:${authorityPort}/${tenant}`
    if (url.includes('/.well-known/openid-configuration'))
      return json(res, 200, {
        issuer: `${authority}/v2.0`,
        authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
        token_endpoint: `${authority}/oauth2/v2.0/token`,
        jwks_uri: `${authority}/discovery/v2.0/keys`,
      })
    const form = new URLSearchParams(body)
    if (
      url.includes('/oauth2/v2.0/token') &&
      (form.get('client_secret') === 'the-secret' || form.get('client_assertion') === 'a-token')
    )
      return json(res, 200, {
        access_token: token(),
        token_type: 'Bearer',
        expires_in: world.lifeSeconds,
        ext_expires_in: world.lifeSeconds,
      })
    return json(res, 400, { error: 'invalid_client', error_description: 'Nobody knows them.' })
  }
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    answer(req, res).catch(() => res.destroy())
  }
  const tls = { key: readFileSync(key), cert: readFileSync(cert) }
  const managed = createHttp(handle).listen(0, '127.0.0.1')
  const authority = createServer(tls, handle).listen(0, '127.0.0.1')
  await Promise.all([once(managed, 'listening'), once(authority, 'listening')])
  const managedPort = (managed.address() as AddressInfo).port
  const authorityPort = (authority.address() as AddressInfo).port

  const port = await freePort()
  const child = spawn(
    process.execPath,
    [
      program,
      ...['--location', join(dir, 'azurite'), '--blobPort', String(port), '--silent'],
      ...['--skipApiVersionCheck', '--disableTelemetry', '--oauth', 'basic'],
      ...['--cert', cert, '--key', key],
    ],
    {
      env: {
        PATH: process.env.PATH ?? '',
        AZURITE_ACCOUNTS: 'satchel:YSBrZXkgdGhhdCBub2JvZHkgdXNlcw==',
        // Azurite fetches the source of a copy from itself.
        NODE_EXTRA_CA_CERTS: cert,
      },
      stdio: 'ignore',
    },
  )
  const gone = once(child, 'exit')
  world.accountUrl = `https://127.0.0.1:${port}/satchel`
  world.managed = {
    IDENTITY_ENDPOINT: `http://127.0.0.1:${managedPort}/msi/token`,
    IDENTITY_HEADER: 'the-header',
    AZURE_TOKEN_CREDENTIALS: 'prod',
  }
  const at = {
    AZURE_AUTHORITY_HOST: `https://localhost:${authorityPort}`,
    AZURE_TENANT_ID: tenant,
    AZURE_CLIENT_ID: tenant,
    AZURE_TOKEN_CREDENTIALS: 'prod',
  }
  world.secret = { ...at, AZURE_CLIENT_SECRET: 'the-secret' }
  world.workload = { ...at, AZURE_FEDERATED_TOKEN_FILE: join(dir, 'token') }
  world.close = async () => {
    managed.close()
    authority.close()
    managed.closeAllConnections()
    authority.closeAllConnections()
    child.kill('SIGTERM')
    await gone
    rmSync(dir, { recursive: true, force: true })
  }
  writeFileSync(join(dir, 'token'), 'a-token')
  const answers = () =>
    fetch(world.accountUrl).then(
      () => true,
      error => /cert|self-signed/i.test(String(error.cause)),
    )
  for (const end = Date.now() + 20_000; !(await answers()); await sleep(100))
    if (Date.now() > end || child.exitCode !== null) throw new Error('Azurite does not start.')
  return world
}

export type AzureWorld = Awaited<ReturnType<typeof startAzureWorld>>
