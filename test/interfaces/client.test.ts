import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createLog } from '../../src/runtime/log.ts'
import { mountSignIn } from '../../src/sign-in/embedded/mount.ts'
import { createClient, Refused } from '../client/client.ts'
import {
  FindDocument,
  HomeDocument,
  OpenDocument,
  ReceivedDocument,
  ShareDocument,
  ShareReceivedDocument,
  UploadDocument,
  UsageChangedDocument,
} from '../client/generated.ts'
import { startApp, type TestApp } from '../support/harness.ts'
import { anId, aTime } from '../support/shapes.ts'
import { Browser } from '../unit/sign-in-browser.ts'

let t: TestApp
let dataDir: string
let word: () => Promise<string>
let alice: ReturnType<typeof createClient>
let bob: ReturnType<typeof createClient>

/** Signs in through the service's own page. Returns the cookie. */
async function signIn(email: string): Promise<string> {
  const browser = new Browser()
  const follow = async (answer: Response): Promise<Response> => {
    const to = answer.headers.get('location')
    return to && !to.endsWith('/home') ? follow(await browser.get(to)) : answer
  }
  const page = await follow(await browser.get(`${t.url}/auth/oauth?return_to=/home`))
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  await follow(await browser.post({ word: await word(), email, name: '', verified: 'yes' }))
  return `session_id=${browser.jar.get('session_id')?.value}`
}

const clientOf = async (email: string) =>
  createClient({ url: t.url, headers: { cookie: await signIn(email) } })

beforeAll(async () => {
  const log = createLog({ logLevel: 'silent' })
  const key = randomBytes(32).toString('base64url')
  dataDir = mkdtempSync(join(tmpdir(), 'satchel-client-'))
  const embeddedSignIn = async (publicUrl: string) => {
    const embedded = await mountSignIn({ publicUrl, secretKey: key, dataDir, log })
    word = embedded.word.current
    return embedded
  }
  t = await startApp({}, { embeddedSignIn })
  alice = await clientOf('alice@example.com')
  bob = await clientOf('bob@example.com')
})
afterAll(async () => {
  alice?.close()
  bob?.close()
  await t.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function upload(path: string, name: string, content: string) {
  const file = new File([content], name, { type: 'text/plain' })
  const { uploadFile } = await alice.request(UploadDocument, {
    input: { folder: { at: { path } }, file },
  })
  if (!uploadFile) throw new TypeError('A payload is null beside an error only.')
  return uploadFile.file
}

describe('The typed client', () => {
  it('uploads, lists page by page, and searches', async () => {
    const first = await upload('', 'a.txt', 'hello')
    expect(first).toEqual({
      id: anId,
      path: 'a.txt',
      size: 5,
      md5: '5d41402abc4b2a76b9719d911017c592',
      createdAt: aTime,
    })
    for (const name of ['b.txt', 'c.txt']) await upload('', name, name)
    const pageAfter = (after: string | null) => alice.request(HomeDocument, { first: 2, after })
    const paths: string[] = []
    let after: string | null = null
    do {
      const { me } = await pageAfter(after)
      expect([me.email, me.drive.usage.fileCount, me.workspaces?.edges]).toEqual([
        'alice@example.com',
        3,
        [],
      ])
      const { edges, pageInfo } = me.drive.root.entries
      paths.push(...edges.map(({ node }) => node.path))
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null
    } while (after !== null)
    expect(paths).toEqual(['a.txt', 'b.txt', 'c.txt'])
    const { node } = await alice.request(FindDocument, { id: first.id })
    expect(node?.__typename === 'File' && node.path).toBe('a.txt')
    expect((await bob.request(FindDocument, { id: first.id })).node).toBeNull()
  })

  it('shares, receives the notification, and downloads', async () => {
    const told = bob.subscribe(ShareReceivedDocument, {})
    const event = told.next()
    const { path } = await upload('for bob', 'letter.txt', 'Dear Bob')
    const share = { email: 'bob@example.com', entries: [{ at: { path } }], password: 'open sesame' }
    // The subscription may not be open yet. Sharing again renews the share and notifies again.
    const shareUntil = async (done: Promise<unknown>): Promise<void> => {
      await alice.request(ShareDocument, { input: share })
      const over = await Promise.race([
        done.then(() => true),
        new Promise(later => setTimeout(later, 300, false)),
      ])
      if (!over) await shareUntil(done)
    }
    await shareUntil(event)
    const { value } = await event
    expect(value?.shareReceived).toMatchObject({
      fileName: 'letter.txt',
      size: 8,
      sharedBy: { email: 'alice@example.com' },
      seen: false,
    })
    await told.return()

    const { me } = await bob.request(ReceivedDocument, {})
    expect(me.unseenShareCount).toBe(1)
    const token = me.receivedShares.edges[0]?.node.token ?? ''
    const refused = bob.request(OpenDocument, { token, password: 'wrong' })
    await expect(refused).rejects.toThrow(Refused)
    await expect(refused).rejects.toMatchObject({ code: 'WRONG_PASSWORD' })
    const { openShare } = await bob.request(OpenDocument, { token, password: 'open sesame' })
    expect(openShare?.download.fileName).toBe('letter.txt')
    expect(await (await fetch(openShare?.download.url ?? '')).text()).toBe('Dear Bob')
  })

  it('follows events for any length of time', async () => {
    const { me } = await alice.request(HomeDocument, { first: 1 })
    const used: number[] = []
    let next = 0
    const uploads = setInterval(() => upload('many', `${next++}.txt`, 'x').catch(() => {}), 50)
    for await (const { driveChanged } of alice.subscribe(UsageChangedDocument, {})) {
      used.push(driveChanged.usage.usedBytes - me.drive.usage.usedBytes)
      if (used.length === 3) break
    }
    clearInterval(uploads)
    expect(used).toEqual(used.toSorted((a, b) => a - b))
    expect(used.at(-1)).toBeGreaterThan(used[0] ?? 0)
  })

  it('does not compile with fields unknown to the schema', () => {
    const wrong = [
      // @ts-expect-error a number is not a string
      () => alice.request(HomeDocument, { first: '1' }),
      // @ts-expect-error the recipient is missing
      () => alice.request(ShareDocument, { input: { files: [] } }),
      // @ts-expect-error the field is not selected
      async () => (await alice.request(ReceivedDocument, {})).me.email,
    ]
    expect(wrong).toHaveLength(3)
  })

  it('receives the reason for a refused subscription', async () => {
    const anonymous = createClient({ url: t.url, headers: {} })
    await expect(anonymous.subscribe(ShareReceivedDocument, {}).next()).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
    await expect(anonymous.request(HomeDocument, { first: 1 })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    })
    anonymous.close()
  })
})
