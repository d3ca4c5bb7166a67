import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as newId } from 'uuid'
import type { RateName } from '../../../src/services/rate-limit.ts'
import { type FlakyProxy, startFlakyProxy } from '../../support/flaky-proxy.ts'
import { wholeGuessWindow } from '../../support/guess-window.ts'
import {
  newDatabase,
  type Person,
  type RestAnswer,
  type RestOptions,
  rest as send,
  signInTo,
  startApp,
  type TestApp,
} from '../../support/harness.ts'
import { aSentence } from '../../support/shapes.ts'

const redisUrl = process.env.TEST_REDIS_URL
const describeWithRedis = redisUrl ? describe : describe.skip

const MAX = { RATE_API_KEYS: '3', RATE_SHARING: '5', RATE_WORKSPACES: '4', RATE_INVITES: '6' }
const roomy = { maxPrivateApiKeys: 1000, maxWorkspaceApiKeys: 1000, maxUserWorkspaces: 1000 }

interface Caller {
  person: Person
  workspace: string
}

/**
 * A way to perform one of the limited operations: by REST, and by GraphQL. Each call acts on
 * something new.
 */
interface Operation {
  policy: RateName
  max: number
  rest(caller: Caller, n: number): Promise<RestAnswer>
  graphql: { query: string; input(caller: Caller, n: number): object }
}

const operations: Record<string, Operation> = {
  'POST /api/files/share': {
    policy: 'sharing',
    max: 5,
    rest: ({ person }, n) =>
      person.rest('POST', '/api/files/share', {
        json: { email: `r${n}@example.com`, objects: ['a.txt'] },
      }),
    graphql: {
      query:
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { mail } }',
      input: (_caller, n) => ({ email: `r${n}@example.com`, entries: [{ at: { path: 'a.txt' } }] }),
    },
  },
  'POST /api/api_keys/private/create': {
    policy: 'api_keys',
    max: 3,
    rest: ({ person }, n) =>
      person.rest('POST', '/api/api_keys/private/create', {
        json: { name: `k${n}`, scopes: ['private_files:read'] },
      }),
    graphql: {
      query: 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      input: (_caller, n) => ({ name: `k${n}`, scopes: ['PRIVATE_FILES_READ'] }),
    },
  },
  'POST /api/api_keys/{workspace_id}/create': {
    policy: 'api_keys',
    max: 3,
    rest: ({ person, workspace }, n) =>
      person.rest('POST', `/api/api_keys/${workspace}/create`, {
        json: { name: `k${n}`, scopes: ['workspaces:read'] },
      }),
    graphql: {
      query: 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      input: ({ workspace }, n) => ({ workspace, name: `k${n}`, scopes: ['WORKSPACES_READ'] }),
    },
  },
  'POST /api/workspaces/create': {
    policy: 'workspaces',
    max: 4,
    rest: ({ person }, n) =>
      person.rest('POST', '/api/workspaces/create', { json: { name: `w${n}` } }),
    graphql: {
      query:
        'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id } } }',
      input: (_caller, n) => ({ name: `w${n}` }),
    },
  },
  'POST /api/workspaces/invites/create': {
    policy: 'invites',
    max: 6,
    rest: ({ person, workspace }, n) =>
      person.rest('POST', '/api/workspaces/invites/create', {
        json: { workspace_id: workspace, email: `i${n}@example.com`, role: 'viewer' },
      }),
    graphql: {
      query:
        'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      input: ({ workspace }, n) => ({ workspace, email: `i${n}@example.com`, role: 'VIEWER' }),
    },
  },
}
const names = Object.keys(operations)
const operation = (name: string): Operation => {
  const found = operations[name]
  if (!found) throw new Error(`There is no ${name}.`)
  return found
}

/** A person with a file and a workspace, who has not used any limit yet. */
async function caller(t: TestApp): Promise<Caller> {
  const person = await t.signIn(`p${newId()}`)
  await person.upload('a.txt', 'hello')
  const { response } = await person.rest('POST', '/api/workspaces/create', { json: { name: 'W' } })
  return { person, workspace: response.workspace.workspace_id }
}

const spent = (name: string) => (operation(name).policy === 'workspaces' ? 1 : 0)

describe('On one instance', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startApp(MAX)
    await t.limit(roomy)
  })
  afterAll(() => t.stop())

  it.each(names)('%s returns 429, and when to retry', async name => {
    const { rest, max, policy } = operation(name)
    const who = await caller(t)
    const other = await caller(t)
    for (let n = spent(name); n < max; n++) expect((await rest(who, n)).status).toBe(200)
    for (let i = 0; i < 3; i++) {
      const { status, msg, response, headers } = await rest(who, 100 + i)
      expect([status, msg]).toEqual([429, aSentence])
      expect(response).toEqual({
        code: 'RATE_LIMITED',
        retry_after: expect.any(Number),
        policy,
        limit: max,
        window: 60,
      })
      expect(response.retry_after).toBeGreaterThan(50)
      expect(response.retry_after).toBeLessThanOrEqual(60)
      expect(headers.get('retry-after')).toBe(String(response.retry_after))
      expect(headers.get('ratelimit-policy')).toBe(`"${policy}";q=${max};w=60`)
      expect(headers.get('ratelimit')).toBe(`"${policy}";r=0;t=${response.retry_after}`)
    }
    // The limit applies to one person and one operation.
    expect((await rest(other, 0)).status).toBe(200)
    for (const another of names.filter(n => operation(n).policy !== policy))
      expect((await operation(another).rest(who, 200)).status).toBe(200)
  })

  it.each(names)('%s counts REST and GraphQL together, with the same limits', async name => {
    const { rest, graphql, max, policy } = operation(name)
    const who = await caller(t)
    const ask = (n: number) => who.person.graphql(graphql.query, { input: graphql.input(who, n) })
    for (let n = spent(name); n < max; n++) {
      if (n % 2) expect((await rest(who, n)).status).toBe(200)
      else expect((await ask(n)).errors).toBeUndefined()
    }
    const { status, errors } = await ask(100)
    expect(status).toBe(200)
    const byRest = (await rest(who, 101)).response
    expect(errors?.[0]?.extensions).toEqual({
      code: 'RATE_LIMITED',
      retry_after: expect.any(Number),
      policy,
      limit: max,
      window: 60,
    })
    expect(
      Math.abs(Number(errors?.[0]?.extensions.retry_after) - byRest.retry_after),
    ).toBeLessThanOrEqual(1)
  })

  it('keys of a person and of a workspace share one count', async () => {
    const who = await caller(t)
    const [own, shared] = [
      operation('POST /api/api_keys/private/create'),
      operation('POST /api/api_keys/{workspace_id}/create'),
    ]
    expect((await own.rest(who, 0)).status).toBe(200)
    expect((await shared.rest(who, 1)).status).toBe(200)
    expect((await own.rest(who, 2)).status).toBe(200)
    expect((await shared.rest(who, 3)).status).toBe(429)
    expect((await own.rest(who, 4)).status).toBe(429)
  })

  it.each(names)('%s admits exactly its limit of 40 concurrent requests', async name => {
    const { rest, max } = operation(name)
    const who = await caller(t)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => rest(who, n)))
    const count = (status: number) => answers.filter(a => a.status === status).length
    expect([count(200), count(429)]).toEqual([max - spent(name), 40 - max + spent(name)])
  })

  it('refused requests do not count, and failed requests do', async () => {
    const who = await caller(t)
    const { rest } = operation('POST /api/files/share')
    const { response } = await who.person.rest('POST', '/api/api_keys/private/create', {
      json: { name: 'reader', scopes: ['private_files:read'] },
    })
    const key = { headers: { cookie: '', 'x-api-key': response.api_key.key } }
    const json = { email: 'bob@example.com', objects: ['a.txt'] }
    for (let i = 0; i < 10; i++)
      expect((await who.person.rest('POST', '/api/files/share', { json, ...key })).status).toBe(401)
    for (let i = 0; i < 10; i++)
      expect(
        (await who.person.rest('POST', '/api/files/share', { json: { ...json, more: 1 } })).status,
      ).toBe(400)
    const missing = { json: { email: 'bob@example.com', objects: ['none'] } }
    for (let i = 0; i < 4; i++)
      expect((await who.person.rest('POST', '/api/files/share', missing)).status).toBe(400)
    expect((await rest(who, 0)).status).toBe(200)
    expect((await rest(who, 1)).status).toBe(429)
    expect(
      await t.app.db.rows('SELECT id FROM share WHERE user_id = ?', [who.person.userId]),
    ).toHaveLength(1)
  })

  it('no other operation is limited', async () => {
    const who = await caller(t)
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        i % 2
          ? who.person.rest('POST', '/api/files/quick_share', { json: { object: 'a.txt' } })
          : who.person.rest('GET', '/api/files/tree'),
      ),
    )
    expect(answers.filter(a => a.status !== 200)).toEqual([])
  })
})

/** Two instances of one service, which share everything. */
async function startTwo(
  settings: Record<string, string>,
): Promise<{ one: TestApp; two: TestApp; stop(): Promise<void> }> {
  const database = await newDatabase()
  const common = {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64url'),
    ...settings,
  }
  const one = await startApp(common)
  const two = await startApp(common)
  return {
    one,
    two,
    async stop() {
      await one.stop()
      await two.stop()
      await database.drop()
    },
  }
}

describeWithRedis('On two instances with Redis', () => {
  let pair: Awaited<ReturnType<typeof startTwo>>
  let proxy: FlakyProxy

  beforeAll(async () => {
    const { hostname, port } = new URL(redisUrl ?? '')
    proxy = await startFlakyProxy({ host: hostname, port: Number(port) || 6379 })
    pair = await startTwo({ ...MAX, REDIS_URL: `redis://127.0.0.1:${proxy.port}` })
    await pair.one.limit(roomy)
  })
  afterAll(async () => {
    await pair.stop()
    await proxy.close()
  })

  /** The same person at both instances. */
  async function callers(): Promise<[Caller, Caller]> {
    const { person, workspace } = await caller(pair.one)
    return [
      { person, workspace },
      { person: await signInTo(pair.two.app.db, pair.two.url, person.email), workspace },
    ]
  }

  it.each(names)('%s admits exactly its limit of 40 concurrent requests, over both', async name => {
    const { rest, max } = operation(name)
    const both = await callers()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => rest(both[n % 2 ? 0 : 1], n)),
    )
    const count = (status: number) => answers.filter(a => a.status === status).length
    expect([count(200), count(429)]).toEqual([max - spent(name), 40 - max + spent(name)])
    const [here, there] = [await rest(both[0], 200), await rest(both[1], 201)]
    expect([here.status, there.status]).toEqual([429, 429])
    expect(Math.abs(here.response.retry_after - there.response.retry_after)).toBeLessThanOrEqual(1)
  })

  it.each<[string, 'refuse' | 'freeze']>([
    ['is down', 'refuse'],
    ['accepts commands without responding', 'freeze'],
  ])(
    'while Redis %s, each instance counts for itself, and no request waits for long',
    async (_what, how) => {
      const { rest, max } = operation('POST /api/files/share')
      const both = await callers()
      for (const who of both) expect((await rest(who, 0)).status).toBe(200)
      await proxy[how]()
      try {
        for (const who of both) {
          const begun = Date.now()
          const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => rest(who, n)))
          expect(Date.now() - begun).toBeLessThan(8000)
          expect(answers.filter(a => a.status === 200)).toHaveLength(max)
          expect(answers.filter(a => a.status === 429)).toHaveLength(20 - max)
        }
      } finally {
        await proxy.heal()
      }
      // The earlier common counts apply again.
      for (const end = Date.now() + 10_000; ; await sleep(200)) {
        const fresh = await callers()
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, n) => rest(fresh[n % 2 ? 0 : 1], n)),
        )
        if (answers.filter(a => a.status === 200).length === max) break
        if (Date.now() > end) throw new Error('The instances do not count together again.')
      }
    },
  )
})

describe('Guessing the password of a share', () => {
  const OPEN =
    'mutation ($input: OpenShareInput!) { openShare(input: $input) { download { fileName } } }'

  interface Guess {
    code: string | undefined
    retryAfter: number
  }
  /**
   * The address that a visitor claims to have. Behind a proxy, only the last address of the first
   * header was added by the proxy.
   */
  const claims = (forwarded: string) => ({
    'x-forwarded-for': forwarded,
    forwarded: `for="${forwarded.split(',')[0]}"`,
    ...Object.fromEntries(
      ['x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'].map(name => [
        name,
        forwarded.split(',')[0] ?? '',
      ]),
    ),
  })

  /** Every way to try a password. */
  const ways: ((
    url: string,
    token: string,
    password: string,
    forwarded: string,
  ) => Promise<Guess>)[] = [
    (url, token, password, forwarded) =>
      byRest(url, 'GET', `/api/d/${token}`, {
        headers: { 'x-share-password': password, ...claims(forwarded) },
      }),
    (url, token, password, forwarded) =>
      byRest(url, 'HEAD', `/api/d/${token}`, {
        headers: { 'x-share-password': password, ...claims(forwarded) },
      }),
    (url, token, password, forwarded) =>
      byRest(url, 'POST', `/api/share/resolve/${token}`, {
        json: { password },
        headers: claims(forwarded),
      }),
    (url, token, password, forwarded) =>
      byRest(url, 'POST', `/share/${token}`, {
        body: new URLSearchParams({ password }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...claims(forwarded) },
      }),
    (url, token, password, forwarded) =>
      byGraphql(url, OPEN, { input: { token, password } }, forwarded),
  ]

  async function byRest(
    url: string,
    method: string,
    path: string,
    options: RestOptions,
  ): Promise<Guess> {
    const { status, headers, response } = await send(url, method, path, options)
    const retryAfter = Number(headers.get('retry-after') ?? 0)
    if (status < 400) return { code: undefined, retryAfter }
    // HEAD returns only the headers, and pages are for people.
    if (!response)
      return { code: retryAfter > 0 ? 'TOO_MANY_ATTEMPTS' : 'WRONG_PASSWORD', retryAfter }
    expect(retryAfter).toBe(response.retry_after ?? 0)
    return { code: response.code, retryAfter }
  }

  async function byGraphql(
    url: string,
    query: string,
    variables: object,
    forwarded: string,
  ): Promise<Guess> {
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...claims(forwarded) },
      body: JSON.stringify({ query, variables }),
    })
    const { errors } = (await answer.json()) as {
      errors?: { extensions: { code: string; retry_after?: number } }[]
    }
    return {
      code: errors?.[0]?.extensions.code,
      retryAfter: errors?.[0]?.extensions.retry_after ?? 0,
    }
  }

  /**
   * Sends many wrong guesses, some of them in parallel, in every way and to every instance in turn.
   * Counts the responses.
   */
  async function attack(
    urls: string[],
    token: string,
    guesses: number,
    forwardedOf: (n: number) => string,
  ) {
    const said: Record<string, number> = {}
    let next = 0
    const guesser = async () => {
      for (let n = next++; n < guesses; n = next++) {
        const url = urls[n % urls.length] ?? ''
        const guess = await ways[Math.floor(n / urls.length) % ways.length]?.(
          url,
          token,
          `wrong-${n}`,
          forwardedOf(n),
        )
        said[guess?.code ?? 'in'] = (said[guess?.code ?? 'in'] ?? 0) + 1
        if (guess?.code === 'TOO_MANY_ATTEMPTS') expect(guess.retryAfter).toBeGreaterThan(0)
      }
    }
    await Promise.all(Array.from({ length: 20 }, guesser))
    return said
  }

  async function protect(t: TestApp): Promise<string> {
    const alice = await t.signIn('alice')
    await alice.upload(`${newId()}.txt`, 'hello')
    const { response } = await alice.rest('GET', '/api/files/tree')
    const made = await alice.rest('POST', '/api/files/quick_share', {
      json: { object: response.files.at(-1).name, password: 'right' },
    })
    return made.response.sharing_token
  }

  beforeEach(wholeGuessWindow)

  const forged = (n: number) => `203.0.113.${n % 250}, 2001:db8::${n.toString(16)}`

  it('300 guesses with forged addresses cause 10 checks if no proxy is trusted', async () => {
    const t = await startApp()
    const token = await protect(t)
    expect(await attack([t.url], token, 300, forged)).toEqual({
      WRONG_PASSWORD: 10,
      TOO_MANY_ATTEMPTS: 290,
    })
    // A document with 50 guesses counts as 50 guesses.
    const other = await protect(t)
    const guesses = Array.from(
      { length: 50 },
      (_, n) => `g${n}: openShare(input: { token: $token, password: "${n}" }) { download { url } }`,
    )
    const query = `mutation ($token: String!) { ${guesses.join(' ')} }`
    expect((await byGraphql(t.url, query, { token: other }, '')).code).toBe('WRONG_PASSWORD')
    expect((await ways[0]?.(t.url, other, 'right', ''))?.code).toBe('TOO_MANY_ATTEMPTS')
    await t.stop()
  })

  for (const [where, settings] of [
    ['one instance', {}],
    ...(redisUrl ? [['two instances with Redis', { REDIS_URL: redisUrl }] as const] : []),
  ] as const)
    it(`300 guesses cause 10 checks on ${where}, and a visitor from another address is admitted`, async () => {
      const pair = await startTwo({ TRUST_PROXY: 'loopback', ...settings })
      const { one, two } = pair
      const urls = where === 'one instance' ? [one.url] : [one.url, two.url]
      const token = await protect(one)
      // The proxy appends the address that it sees. Earlier addresses are forged by the attacker.
      const said = await attack(urls, token, 300, n => `${forged(n)}, 198.51.100.7`)
      expect(said).toEqual({ WRONG_PASSWORD: 10, TOO_MANY_ATTEMPTS: 290 })
      const [row] = await one.app.db.rows<{ downloads: number }>('SELECT downloads FROM share')
      expect(row?.downloads).toBe(0)
      // The right password is refused for the attacker, but accepted from everyone else.
      for (const url of urls) {
        expect((await ways[0]?.(url, token, 'right', '198.51.100.7'))?.code).toBe(
          'TOO_MANY_ATTEMPTS',
        )
        for (const way of ways)
          expect(await way(url, token, 'right', '198.51.100.8')).toEqual({
            code: undefined,
            retryAfter: 0,
          })
      }
      await pair.stop()
    })
})
