import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import aws4 from 'aws4'
import { textOf } from '../../../src/storage/xml.ts'
import type { S3Server } from './radosgw.ts'

/** A temporary key in the format of the AWS sources. */
export interface TemporaryKey {
  AccessKeyId: string
  SecretAccessKey: string
  Token: string
  Expiration: string
}

async function ask(
  { endpoint, accessKeyId, secretAccessKey }: S3Server,
  service: 's3' | 'sts',
  fields: Record<string, string>,
): Promise<string> {
  const body = String(new URLSearchParams(fields))
  const { headers } = aws4.sign(
    {
      service,
      region: 'us-east-1',
      method: 'POST',
      path: '/',
      headers: {
        Host: new URL(endpoint).host,
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body,
    },
    { accessKeyId, secretAccessKey },
  )
  const answer = await fetch(`${endpoint}/`, {
    method: 'POST',
    headers: headers as Record<string, string>,
    body,
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${service} answers ${answer.status}: ${text}`)
  return text
}

/**
 * Local versions of the AWS sources of temporary keys: the endpoint of containers (ECS, EKS), the
 * metadata service of EC2 (version 2), and the token service for web identities (IRSA). The keys
 * and session tokens are real ones of radosgw. They are declared to expire earlier than in radosgw,
 * whose minimum is 900 seconds, so that they are renewed while a test runs.
 */
export async function startKeySource(server: S3Server, lifeMs = 3000) {
  await ask(server, 's3', {
    Action: 'PutUserPolicy',
    UserName: 'satchel',
    PolicyName: 'temporary-keys',
    PolicyDocument: JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: ['sts:*'], Resource: ['*'] }],
    }),
    Version: '2010-05-08',
  })
  const source = {
    lifeMs,
    /** While true, no keys are issued. */
    isDown: false,
    /** The expiry of each key, by its id. */
    ends: new Map<string, number>(),
    asked: [] as string[],
    url: '',
    close: async () => {},
  }
  async function newKey(): Promise<TemporaryKey> {
    const xml = await ask(server, 'sts', {
      Action: 'GetSessionToken',
      DurationSeconds: '900',
      Version: '2011-06-15',
    })
    const end = Date.now() + source.lifeMs
    const AccessKeyId = textOf(xml, 'AccessKeyId')
    source.ends.set(AccessKeyId, end)
    return {
      AccessKeyId,
      SecretAccessKey: textOf(xml, 'SecretAccessKey'),
      Token: textOf(xml, 'SessionToken'),
      // Without this, some readers would round the expiry to whole seconds.
      Expiration: new Date(end).toISOString(),
    }
  }
  const json = (res: ServerResponse, value: unknown) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
    const { method, url = '', headers } = req
    const body = Buffer.concat(await req.toArray()).toString()
    source.asked.push(`${method} ${url}`)
    if (source.isDown) return res.writeHead(500).end()
    if (url === '/container')
      return headers.authorization === 'container-token'
        ? json(res, await newKey())
        : res.writeHead(401).end()
    if (url === '/latest/api/token' && method === 'PUT') return res.writeHead(200).end('v2')
    if (url.startsWith('/latest/meta-data/iam/security-credentials/')) {
      if (headers['x-aws-ec2-metadata-token'] !== 'v2') return res.writeHead(401).end()
      return url.endsWith('/')
        ? res.writeHead(200).end('the-role')
        : json(res, { Code: 'Success', ...(await newKey()) })
    }
    const fields = new URLSearchParams(body)
    if (
      fields.get('Action') !== 'AssumeRoleWithWebIdentity' ||
      fields.get('WebIdentityToken') !== 'a-token' ||
      fields.get('RoleArn') !== 'arn:aws:iam::123456789012:role/files'
    )
      return res.writeHead(404).end()
    const { Token: SessionToken, ...key } = await newKey()
    const xml = Object.entries({ ...key, SessionToken }).map(
      ([name, value]) => `<${name}>${value}</${name}>`,
    )
    return res
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>${xml.join('')}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      )
  }
  const http = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy())
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  source.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  source.close = async () => {
    http.close()
    http.closeAllConnections()
  }
  return source
}

export type KeySource = Awaited<ReturnType<typeof startKeySource>>

/** The environment of a container that gets its keys from a source. */
export const containerOf = ({ url }: KeySource) => ({
  AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
  AWS_CONTAINER_AUTHORIZATION_TOKEN: 'container-token',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
})

/** The id of the key that signed a request or a URL. */
export const keyIdOf = (signed: string) => /Credential=([^/%]+)/.exec(signed)?.[1] ?? ''
