import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { type Db, openDatabase } from '../../db/index.ts'
import { enter, openBrowser, type Visit, visit } from './browser.ts'
import { type Media, makeMedia } from './media.ts'
import { type Running, type Service, startService } from './service.ts'

/** A running service with several people, their browsers and their shares. */
export interface World {
  service: Service
  browser: Browser
  db: Db
  media: Media
  alice: Visit
  bob: Visit
  carol: Visit
  /** A visitor who is not signed in. */
  anonymous: Visit
  /** Shares a new file of Alice by a public link; returns the link. */
  share(name: string, bytes: Buffer | string, type: string, terms?: object): Promise<string>
  /** Shares a new folder of Alice with files by a public link; returns the link. */
  shareFolder(
    name: string,
    files: [path: string, bytes: Buffer | string, type: string][],
    terms?: object,
  ): Promise<string>
  /** Shares an existing folder of Alice by a public link; returns the link. */
  link(path: string, terms?: object): Promise<string>
  /** Shares a new file of Alice with a person; returns the link. */
  send(name: string, bytes: Buffer | string, type: string, email: string): Promise<string>
  /** Creates a workspace of Alice with an invite; returns the link. */
  invite(who: Visit, email: string, role: string, workspace: string): Promise<string>
  /** Creates a file request for Alice's root; returns the link. */
  request(label: string, terms?: object): Promise<string>
  open(who: Visit, address: string): Promise<Page>
  stop(): Promise<void>
}

export async function startWorld(running: Running = {}): Promise<World> {
  const service = await startService(
    {
      CONSOLE: 'false',
      RATE_WORKSPACES: '1000',
      RATE_SHARING: '1000',
      RATE_INVITES: '1000',
    },
    running,
  )
  const browser = await openBrowser()
  const db = openDatabase(
    { dialect: 'sqlite', file: join(service.dataDir, 'satchel.sqlite') },
    { pool: 2 },
  )
  await db.run('UPDATE plan SET max_user_workspaces = 1000')
  const person = async (email: string) => {
    const who = await visit(browser, service.url)
    await enter(who, service.url, email)
    return who
  }
  const alice = await person('alice@example.com')
  let made = 0

  async function call(path: string, data: object) {
    const answer = await alice.context.request.post(`${service.url}${path}`, { data })
    const { response, msg } = await answer.json()
    if (!answer.ok()) throw new Error(`${path}: ${msg}`)
    return response
  }

  /** Creates a file with any name, because a form would change some names. Returns its path. */
  async function upload(name: string, bytes: Buffer | string, mimeType: string): Promise<string> {
    const folder = `shared-${++made}`
    const file = { name: 'file', mimeType, buffer: Buffer.from(bytes) }
    const answer = await alice.context.request.post(`${service.url}/api/files/upload`, {
      multipart: { folder, file },
    })
    if (!answer.ok()) throw new Error(await answer.text())
    await call('/api/files/move', { source: `${folder}/file`, destination: `${folder}/${name}` })
    return `${folder}/${name}`
  }

  const link = async (path: string, terms = {}): Promise<string> =>
    (await call('/api/folders/quick_share', { path, duration: '7d', ...terms })).sharing_link

  return {
    service,
    browser,
    db,
    media: await makeMedia(browser),
    alice,
    bob: await person('bob@example.com'),
    carol: await person('carol@example.com'),
    anonymous: await visit(browser, service.url),

    async share(name, bytes, type, terms = {}) {
      const object = await upload(name, bytes, type)
      return (await call('/api/files/quick_share', { object, duration: '7d', ...terms }))
        .sharing_link
    },

    async shareFolder(name, files, terms = {}) {
      const path = `folder-${++made}/${name}`
      for (const [at, bytes, type] of files)
        await call('/api/files/move', {
          source: await upload('new', bytes, type),
          destination: `${path}/${at}`,
        })
      return link(path, terms)
    },

    link,

    async request(label, terms = {}) {
      return (await call('/api/file_requests', { label, ...terms })).link
    },

    async send(name, bytes, type, email) {
      const objects = [await upload(name, bytes, type)]
      return (await call('/api/files/share', { email, objects })).sharing_info[0].sharing_link
    },

    async invite(who, email, role, workspace) {
      const founded = await call('/api/workspaces/create', { name: workspace })
      const { workspace_id } = founded.workspace
      await call('/api/workspaces/invites/create', { workspace_id, email, role })
      const { response } = await (
        await who.context.request.get(`${service.url}/api/workspaces/invites/mine`)
      ).json()
      const mine = response.find(
        (invite: { workspace_id: string }) => invite.workspace_id === workspace_id,
      )
      return `${service.url}/invite/${mine.token}`
    },

    async open({ page }, address) {
      await page.goto(new URL(address, service.url).href)
      return page
    },

    async stop() {
      await browser.close()
      await db.close()
      await service.stop()
    },
  }
}

/**
 * Waits until an expression is true in a page. Playwright's own way uses eval, which our policy
 * forbids.
 */
export async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate(expression))) await page.waitForTimeout(20)
}

/** Submits the password form of a share. */
export async function tryPassword(page: Page, password: string): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password)
  const answered = page.waitForResponse(response => response.request().method() === 'POST')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await answered
}
