import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { type OpenIdProvider, openOpenIdProvider } from '../support/openid-provider.ts'
import { makeCa, type PrivateCa } from '../support/private-ca.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { startTlsFront } from '../support/tls-front.ts'
import { until } from '../support/until.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { Browser } from '../unit/sign-in-browser.ts'

const usual = getCACertificates('default')
let ca: PrivateCa
let receiver: Receiver
let front: Awaited<ReturnType<typeof startTlsFront>>
let sso: OpenIdProvider
let trusting: ServiceProcess
let other: ServiceProcess

beforeAll(async () => {
  ca = makeCa()
  const files = ca.issue('server', ['DNS:localhost'])
  receiver = await startReceiver()
  front = await startTlsFront(files, receiver.port)
  sso = await openOpenIdProvider({ cert: readFileSync(files.cert), key: readFileSync(files.key) })
  const settings = {
    ...sso.settings('SSO'),
    WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1,::1',
  }
  trusting = await startServiceProcess({ ...settings, CA_FILE: ca.file })
  other = await startServiceProcess(settings)
  // The browser of the test trusts the provider, whatever the settings of the service.
  setDefaultCACertificates([...usual, readFileSync(ca.file, 'utf8')])
})

afterAll(async () => {
  setDefaultCACertificates(usual)
  await trusting?.stop()
  await other?.stop()
  await sso?.close()
  front?.stop()
  await receiver?.stop()
  ca?.remove()
})

/** Creates a webhook and a file. @returns the first delivery */
async function firstDelivery(service: ServiceProcess) {
  const [alice] = await service.signIn('alice')
  if (!alice) throw new Error('Nobody signed in.')
  const { createWebhook } = await ask(
    alice,
    'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
    { input: { url: `https://localhost:${front.port}/` } },
  )
  await alice.upload('a.txt', 'a')
  const look =
    'query ($id: ID!) { node(id: $id) { ... on Webhook { deliveries { status failure } } } }'
  return until(async () => {
    const { node } = await ask(alice, look, { id: createWebhook.webhook.id })
    return node.deliveries[0]
  })
}

/** Signs in through the provider. @returns the target of the last redirect */
async function signIn({ url }: ServiceProcess): Promise<string> {
  const browser = new Browser()
  const begun = await browser.get(`${url}/auth/oauth`)
  const to = begun.headers.get('location') ?? ''
  if (!to.startsWith(sso.issuer)) return to
  const done = await browser.get(await sso.visit(browser, begun))
  return done.headers.get('location') ?? ''
}

it('A webhook reaches a receiver whose certificate is signed by an authority from CA_FILE', async () => {
  expect(await firstDelivery(trusting)).toEqual({ status: 204, failure: null })
  expect(receiver.received).toHaveLength(1)
  expect(await firstDelivery(other)).toEqual({
    status: null,
    failure: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  })
})

it('People sign in with a provider whose certificate is signed by an authority from CA_FILE', async () => {
  expect(await signIn(trusting)).not.toContain('error')
  expect(await signIn(other)).toContain('error=')
})
