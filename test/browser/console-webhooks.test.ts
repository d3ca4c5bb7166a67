import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import { type Receiver, startReceiver, status, verified } from '../support/webhook-receiver.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  focusedEntry,
  type Person,
  pictures,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let receiver: Receiver

beforeAll(async () => {
  w = await startConsole({ WEBHOOK_ALLOW_ADDRESSES: '127.0.0.0/8' })
  receiver = await startReceiver()
}, 120_000)
afterAll(async () => {
  await receiver?.stop()
  await w?.stop()
})

const row = (page: Page, url: string) => page.getByRole('listitem').filter({ hasText: url })
const choose = async (page: Page, url: string, entry: string) => {
  await page.getByRole('button', { name: `Actions for ${url}` }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}
/** Creates a webhook of a person, as another client would. */
const make = (who: Person, url: string, input: object = {}) =>
  who.ask(
    'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
    {
      input: { url, ...input },
    },
  )

describe('The webhooks of a person', () => {
  it('start empty, are created for some kinds of events, and show their secret once', async () => {
    const alice = await w.person('alice')
    const page = await alice.open('/account/webhooks')
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    expect(await page.title()).toBe('Webhooks · Account · Satchel')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Create webhook' }).click()
    const form = page.getByRole('dialog', { name: 'Create webhook' })
    // A forbidden URL is reported beside its field.
    await form.getByLabel('URL').fill('http://10.0.0.1/hook')
    await form.getByRole('button', { name: 'Create webhook' }).click()
    await form
      .getByRole('alert')
      .filter({ hasText: 'leads to an address that is not public' })
      .waitFor()
    await form.getByLabel('URL').fill(receiver.url)
    await form.getByLabel('Only some').check()
    expect(await form.getByRole('button', { name: 'Create webhook' }).isDisabled()).toBe(true)
    await form.getByLabel('file.created').check()
    await form.getByLabel('share.revoked').check()
    await expectAccessible(page)
    await pictures(page, 'console-webhook-new')
    await form.getByRole('button', { name: 'Create webhook' }).click()
    const made = page.getByRole('dialog', { name: 'Webhook created' })
    const secret = await made.getByLabel('Signing secret').inputValue()
    expect(secret).toMatch(/^whsec_/)
    await expectAccessible(page)
    await made.getByRole('button', { name: 'Done' }).click()
    await row(page, receiver.url).getByText('file.created, share.revoked').waitFor()
    await alice.upload('a.txt', 'a')
    await until(() => receiver.received.length > 0)
    expect(verified(secret, receiver.received[0] as never)).toMatchObject({ type: 'file.created' })
    expectQuiet(alice)
  })

  it('can be changed, paused, resumed and deleted', async () => {
    const bob = await w.person('bob')
    await make(bob, receiver.url)
    const page = await bob.open('/account/webhooks')
    const line = row(page, receiver.url)
    await line.getByText('All events').waitFor()
    await choose(page, receiver.url, 'Pause')
    await line.getByText('Paused').waitFor()
    await choose(page, receiver.url, 'Resume')
    await line.getByText('Paused').waitFor({ state: 'detached' })
    await choose(page, receiver.url, 'Edit…')
    const form = page.getByRole('dialog', { name: 'Edit webhook' })
    const other = `${receiver.url}/other`
    await form.getByLabel('URL').fill(other)
    await form.getByLabel('Only some').check()
    await form.getByLabel('folder.deleted').check()
    await form.getByRole('button', { name: 'Save' }).click()
    await row(page, other).getByText('folder.deleted').waitFor()
    await pictures(page, 'console-webhooks')
    await expectAccessible(page)
    await choose(page, other, 'New secret…')
    await page.getByRole('dialog', { name: 'Replace the signing secret?' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Create new secret' }).click()
    const replaced = page.getByRole('dialog', { name: 'Secret replaced' })
    const secret = await replaced.getByLabel('Signing secret').inputValue()
    await pictures(page, 'console-webhook-secret')
    await replaced.getByRole('button', { name: 'Done' }).click()
    await row(page, other).getByText('old secret valid until').waitFor()
    await choose(page, other, 'Send a ping')
    const pinged = () => receiver.received.find(({ path }) => path === '/hook/other')
    expect(verified(secret, await until(pinged))).toMatchObject({ type: 'ping' })
    await choose(page, other, 'Delete…')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    expectQuiet(bob)
  })

  it('can be tested with a ping, show the result of each attempt, and resend an event, by keyboard alone', async () => {
    const kim = await w.person('kim')
    const url = `${receiver.url}/kim`
    await make(kim, url)
    const page = await kim.open('/account/webhooks')
    const press = async (key: string) => page.keyboard.press(key)
    await page.getByRole('button', { name: `Actions for ${url}` }).focus()
    await press('Enter')
    for (const above of ['Edit…', 'Pause', 'Send a ping']) {
      await focusedEntry(above, page).waitFor()
      await press('ArrowDown')
    }
    await focusedEntry('Deliveries', page).waitFor()
    await press('Enter')
    const sheet = page.getByRole('dialog', { name: 'Deliveries' })
    await sheet.getByText('Nothing has been sent yet').waitFor()
    await sheet.getByRole('button', { name: 'Send a ping' }).focus()
    await press('Enter')
    await sheet.getByRole('listitem').filter({ hasText: 'ping' }).getByText('taken (204)').waitFor()
    receiver.next.push(status(500))
    await kim.upload('k.txt', 'k')
    const attempts = sheet.getByRole('listitem').filter({ hasText: 'file.created' })
    await attempts.getByText('the receiver answered 500').waitFor()
    await attempts.getByText('taken (204)').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-deliveries')
    const before = receiver.received.length
    await attempts
      .first()
      .getByRole('button', { name: /^Send file.created of .* again$/ })
      .focus()
    await press('Enter')
    await attempts.nth(2).waitFor()
    await until(() => receiver.received.length === before + 1)
    expect(receiver.received.at(-1)?.id).toBe(receiver.received.at(-2)?.id)
    await press('Escape')
    await sheet.waitFor({ state: 'detached' })
    expectQuiet(kim)
  })

  it('explain why they fail, and show nothing while the reason is unknown', async () => {
    const mia = await w.person('mia')
    const url = `${receiver.url}/mia`
    await make(mia, url)
    receiver.next.push(status(500), status(500), status(500))
    await mia.upload('m.txt', 'm')
    const isFailing = async () => {
      type Failing = { me: { webhooks: { firstFailedAt: string | null }[] } }
      const { me } = await mia.ask<Failing>('{ me { webhooks { firstFailedAt } } }')
      return me.webhooks[0]?.firstFailedAt
    }
    await until(isFailing)
    const held: (() => void)[] = []
    let isHeld = true
    await mia.page.route('**/graphql', async route => {
      if (isHeld && route.request().postData()?.includes('query Deliveries'))
        await new Promise<void>(go => held.push(go))
      await route.continue()
    })
    const page = await mia.open('/account/webhooks')
    await row(page, url).getByText('Failing since').waitFor()
    await until(() => held.length > 0)
    expect(await row(page, url).textContent()).not.toContain('three days')
    isHeld = false
    for (const go of held) go()
    await row(page, url).getByText('The last attempt failed: the receiver answered 500.').waitFor()
    receiver.next.length = 0
    expectQuiet(mia)
  })

  it('show new failures on an open screen', async () => {
    const nina = await w.person('nina')
    const url = `${receiver.url}/nina`
    await make(nina, url)
    const page = await nina.open('/account/webhooks')
    await row(page, url).getByText('All events').waitFor()
    receiver.next.push(status(500), status(500), status(500))
    await nina.upload('n.txt', 'n')
    await row(page, url).getByText('Failing', { exact: true }).waitFor()
    await row(page, url).getByText('The last attempt failed: the receiver answered 500.').waitFor()
    receiver.next.length = 0
    expectQuiet(nina)
  })

  it('are refetched after a failed load, below the same tabs', async () => {
    const otto = await w.person('otto')
    const url = `${receiver.url}/otto`
    await make(otto, url)
    let isDown = true
    const refuse = (operation: string) =>
      otto.page.route('**/graphql', route =>
        isDown && route.request().postData()?.includes(`query ${operation}`)
          ? route.fulfill({
              json: {
                errors: [{ message: 'The database is away.', extensions: { code: 'UNAVAILABLE' } }],
              },
            })
          : route.fallback(),
      )
    await refuse('AccountWebhooks')
    const { page } = otto
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' })
    // Sometimes the cache has a partial result before the error is rendered.
    for (let i = 0; i < 10; i++) {
      await page.goto(`${w.service.url}/account/webhooks`)
      await again.waitFor()
    }
    await page.getByRole('link', { name: 'Signing in' }).waitFor()
    expect(await page.title()).toBe('Webhooks · Account · Satchel')
    await expectAccessible(page)
    await pictures(page, 'console-webhooks-failed')
    isDown = false
    await again.click()
    await row(page, url).waitFor()
    isDown = true
    await refuse('Deliveries')
    await choose(page, url, 'Deliveries')
    const sheet = page.getByRole('dialog', { name: 'Deliveries' })
    await sheet.getByRole('button', { name: 'Try again' }).waitFor()
    await expectAccessible(page)
    isDown = false
    await sheet.getByRole('button', { name: 'Try again' }).click()
    await sheet.getByText('Nothing has been sent yet').waitFor()
    expect(otto.foreign).toEqual([])
  })

  it('speak German, also on a phone', async () => {
    const greta = await w.person('greta', { ...telephone, locale: 'de-DE' })
    const page = await greta.open('/account/webhooks')
    const fits = async () =>
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.getByRole('heading', { name: 'Noch keine Webhooks' }).waitFor()
    await fits()
    await page.getByRole('button', { name: 'Webhook anlegen' }).tap()
    const form = page.getByRole('dialog', { name: 'Webhook anlegen' })
    const url = `${receiver.url}/greta`
    await form.getByLabel('URL').fill(url)
    await form.getByLabel('Nur manche').check()
    await form.getByLabel('file.created').check()
    await fits()
    await expectAccessible(page)
    await pictures(page, 'console-webhook-new-german')
    await form.getByRole('button', { name: 'Webhook anlegen' }).tap()
    const made = page.getByRole('dialog', { name: 'Der Webhook ist angelegt' })
    await made.getByLabel('Geheimnis der Signaturen').waitFor()
    await made.getByRole('button', { name: 'Fertig' }).tap()
    receiver.next.push(status(410))
    await greta.upload('g.txt', 'g')
    await row(page, url).getByText('der Empfänger will keine mehr (410)').waitFor()
    await row(page, url).getByText('Abgeschaltet').waitFor()
    await fits()
    await expectAccessible(page)
    await pictures(page, 'console-webhooks-german')
    await row(page, url).getByRole('button', { name: 'Wieder einschalten' }).tap()
    await row(page, url).getByText('Abgeschaltet').waitFor({ state: 'detached' })
    for (const [entry, title] of [
      ['Zustellungen', 'Zustellungen'],
      ['Neues Geheimnis…', 'Das Geheimnis der Signaturen ersetzen?'],
      ['Bearbeiten…', 'Webhook bearbeiten'],
      ['Löschen…', 'Diesen Webhook löschen?'],
    ] as const) {
      await page.getByRole('button', { name: `Aktionen für ${url}` }).tap()
      await page.getByRole('menuitem', { name: entry }).tap()
      await page.getByRole('dialog', { name: title }).waitFor()
      await fits()
      await expectAccessible(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expectQuiet(greta)
  })

  it('explain why they were disabled, and can be enabled again', async () => {
    const lea = await w.person('lea')
    const url = `${receiver.url}/lea`
    await make(lea, url)
    receiver.next.push(status(410))
    await lea.upload('l.txt', 'l')
    const isDisabled = async () => {
      const { me } = await lea.ask<{ me: { webhooks: { state: string }[] } }>(
        '{ me { webhooks { state } } }',
      )
      return me.webhooks[0]?.state === 'DISABLED'
    }
    await until(isDisabled)
    const page = await lea.open('/account/webhooks')
    const line = row(page, url)
    await line.getByText('Disabled').waitFor()
    await line.getByText('the receiver wants no more (410)').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-webhook-disabled')
    await line.getByRole('button', { name: 'Enable again' }).click()
    await line.getByText('Disabled').waitFor({ state: 'detached' })
    await until(() => receiver.received.filter(({ path }) => path === '/hook/lea').length === 2)
    expectQuiet(lea)
  })
})

describe('The webhooks of a workspace', () => {
  it('are for members with permission to manage it, also on a phone and under hostile names', async () => {
    const carol = await w.person('carol', telephone)
    const dora = await w.person('dora')
    const name = `<img src=x onerror="document.title='pwned'">`
    type Made = { createWorkspace: { workspace: { id: string; slug: string } } }
    const made = await carol.ask<Made>(
      'mutation ($name: String!) { createWorkspace(input: { name: $name }) { workspace { id slug } } }',
      { name },
    )
    const { id, slug } = made.createWorkspace.workspace
    await carol.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      {
        input: { workspace: id, email: dora.email, role: 'EDITOR' },
      },
    )
    type Invited = { me: { invites: { nodes: { token: string }[] } } }
    const { me } = await dora.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
    await dora.ask(
      'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }',
      {
        input: { token: me.invites.nodes[0]?.token },
      },
    )
    const page = await carol.open(`/workspaces/${slug}/webhooks`)
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    await page.getByRole('button', { name: 'Create webhook' }).tap()
    const form = page.getByRole('dialog', { name: 'Create webhook' })
    await form.getByLabel('URL').waitFor()
    expect(await form.getByLabel('What happens').count()).toBe(0)
    const url = `${receiver.url}/%3Cimg%20src=x%20onerror=hit()%3E`
    await form.getByLabel('URL').fill(url)
    await form.getByLabel('Only some').check()
    await form.getByLabel('member.joined').check()
    await form.getByLabel('file.created').check()
    await pictures(page, 'console-webhook-new-telephone')
    await form.getByRole('button', { name: 'Create webhook' }).tap()
    await page.getByRole('button', { name: 'Done' }).tap()
    await row(page, url).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-webhooks-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await page.title()).toBe(`Webhooks · ${name} · Satchel`)
    const doras = await dora.open(`/workspaces/${slug}/webhooks`)
    await doras.getByText('Only owners and admins see the webhooks.').waitFor()
    expect(await doras.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
    await expectAccessible(doras)
    expectQuiet(carol)
    expectQuiet(dora)
  })

  it('look the same to two managers at once', async () => {
    const [ada, ben] = [await w.person('ada'), await w.person('ben')]
    type Made = { createWorkspace: { workspace: { id: string; slug: string } } }
    const made = await ada.ask<Made>(
      'mutation { createWorkspace(input: { name: "Two" }) { workspace { id slug } } }',
    )
    const { id, slug } = made.createWorkspace.workspace
    await ada.ask(
      'mutation ($input: CreateInviteInput!) { createInvite(input: $input) { invite { id } } }',
      {
        input: { workspace: id, email: ben.email, role: 'ADMIN' },
      },
    )
    type Invited = { me: { invites: { nodes: { token: string }[] } } }
    const { me } = await ben.ask<Invited>('{ me { invites(first: 1) { nodes { token } } } }')
    await ben.ask(
      'mutation ($input: AcceptInviteInput!) { acceptInvite(input: $input) { acceptedId } }',
      {
        input: { token: me.invites.nodes[0]?.token },
      },
    )
    const hers = await ada.open(`/workspaces/${slug}/webhooks`)
    const his = await ben.open(`/workspaces/${slug}/webhooks`)
    const url = `${receiver.url}/two`
    await hers.getByRole('button', { name: 'Create webhook' }).click()
    await hers.getByRole('dialog').getByLabel('URL').fill(url)
    await hers.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
    await row(his, url).waitFor()
    await hers.getByRole('button', { name: 'Done' }).click()
    await choose(his, url, 'Pause')
    await row(hers, url).getByText('Paused').waitFor()
    // A refetch keeps half-typed text.
    await choose(hers, url, 'Edit…')
    await hers.getByRole('dialog').getByLabel('URL').fill(`${url}/changed`)
    await choose(his, url, 'Resume')
    await row(hers, url).getByText('Paused').waitFor({ state: 'detached' })
    expect(await hers.getByRole('dialog').getByLabel('URL').inputValue()).toBe(`${url}/changed`)
    await hers.getByRole('button', { name: 'Save' }).click()
    await row(his, `${url}/changed`).waitFor()
    await choose(his, `${url}/changed`, 'Delete…')
    await his.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await hers.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    expectQuiet(ada)
    expectQuiet(ben)
  })
})
