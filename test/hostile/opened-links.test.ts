import { get, type IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { wholeGuessWindow } from '../support/guess-window.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  await alice.upload('a.txt', 'hello', 'text/plain')
})
afterAll(() => t.stop())

const tab = {
  accept: 'text/html,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}

/** Uses node:http, because fetch sets Fetch Metadata headers itself. */
function open(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>(
    (resolve, reject) => {
      get(`${t.url}${path}`, { headers }, res => {
        res.resume().on('end', () => resolve({ status: res.statusCode, headers: res.headers }))
      }).on('error', reject)
    },
  )
}

async function share(more: object = {}): Promise<string> {
  const json = { object: 'a.txt', ...more }
  return (await alice.rest('POST', '/api/files/quick_share', { json })).response.sharing_token
}

describe('A download link that is opened in a browser tab', () => {
  const refused: [what: string, make: () => Promise<string>, status: number][] = [
    ['protected', () => share({ password: 'secret' }), 401],
    [
      'expired',
      async () => {
        const token = await share()
        await t.app.db.run('UPDATE share SET expires_at = 1')
        return token
      },
      403,
    ],
    [
      'used up',
      async () => {
        const token = await share({ max_downloads: 1 })
        await t.anonymous.rest('GET', `/api/d/${token}`)
        return token
      },
      403,
    ],
    [
      'direct',
      async () => {
        const json = { email: 'bob@example.com', objects: ['a.txt'] }
        return (await alice.rest('POST', '/api/files/share', { json })).response.sharing_info[0]
          .sharing_token
      },
      401,
    ],
    ['unknown', async () => 'nothing', 404],
  ]

  it.each(refused)(
    'redirects to its page when it is %s; programs, scripts and frames get the status',
    async (_what, make, status) => {
      const path = `/api/d/${await make()}`
      const led = await open(path, tab)
      expect([led.status, led.headers.location]).toEqual([303, path.replace('/api/d/', '/share/')])
      expect(led.headers['cache-control']).toBe('no-store')
      const page = await open(led.headers.location ?? '', tab)
      expect(page.headers['content-type']).toMatch('text/html')
      const others = [
        {},
        { accept: 'text/html' },
        { ...tab, accept: 'application/json' },
        { ...tab, 'sec-fetch-mode': 'cors' },
        { ...tab, 'sec-fetch-dest': 'iframe' },
      ]
      for (const headers of others)
        expect((await open(path, headers as Record<string, string>)).status).toBe(status)
    },
  )

  it('redirects to the bytes when nothing prevents it', async () => {
    const { status, headers } = await open(`/api/d/${await share()}`, tab)
    expect(status).toBe(302)
    expect(headers.location).not.toMatch('/share/')
  })

  it('redirects only to the page of its token, whatever the token contains', async () => {
    const { status, headers } = await open('/api/d/..%2f..%2fevil.example', tab)
    expect([status, headers.location]).toEqual([303, '/share/..%2F..%2Fevil.example'])
  })
})

describe('Messages for which existing clients search', () => {
  it('report blocked guesses and unique slugs', async () => {
    await wholeGuessWindow()
    const token = await share({ password: 'secret' })
    const guess = () =>
      t.anonymous.rest('POST', `/api/share/resolve/${token}`, { json: { password: 'wrong' } })
    for (let i = 0; i < 10; i++) await guess()
    expect(await guess()).toMatchObject({
      response: { code: 'TOO_MANY_ATTEMPTS' },
      msg: expect.stringContaining('blocked'),
    })
    const found = (name: string) =>
      alice.rest('POST', '/api/workspaces/create', { json: { name, slug: 'garden' } })
    await found('One')
    expect(await found('Two')).toMatchObject({
      response: { code: 'SLUG_TAKEN' },
      msg: expect.stringMatching(/duplicate|unique/),
    })
  })
})
