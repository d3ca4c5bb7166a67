import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { basic, davOf, lockOf } from '../support/dav-client.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
} from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

const MAKE_KEY = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }'

const SCOPES = ['READ', 'WRITE', 'DELETE'].map(right => `PRIVATE_FILES_${right}`)
const SHARE =
  'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }'

/** A WebDAV program with a new key of a person. */
async function programOf(who: Person) {
  const { createApiKey } = await who.ask<{ createApiKey: { secret: string } }>(MAKE_KEY, {
    input: { name: 'Office', scopes: SCOPES },
  })
  return davOf(w.service.url, basic(who.email, createApiKey.secret))
}

/** Opens the details of a file. */
async function detailsOf(who: Person, name: string) {
  const page = await who.open('/files?details=true')
  await rowOf(name, page).click()
  return page.getByRole('complementary', { name: 'Details' })
}

describe('A file that another program has locked', () => {
  it('shows the lock with its owner in the details, and the button ends it', async () => {
    const alice = await w.person('alice')
    await alice.upload('plan.txt', 'plan')
    await alice.upload('notes.txt', 'notes')
    const dav = await programOf(alice)
    const token = await lockOf(dav, '/files/plan.txt')
    const details = await detailsOf(alice, 'plan')
    const { page } = alice
    const locks = details.getByRole('region', { name: 'Locks' })
    await locks.getByText('alice', { exact: true }).waitFor()
    await locks.getByText(/^Locked since .+, until .+/).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-locks')

    const write = (headers = {}) =>
      dav('PUT', '/files/plan.txt', { headers, body: 'changed' }).then(({ status }) => status)
    expect(await write()).toBe(423)
    await locks.getByRole('button', { name: 'End lock of alice' }).click()
    const dialog = page.getByRole('dialog', { name: 'End this lock?' })
    await dialog.getByText('alice opened this with another program').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await write()).toBe(423)
    await locks.getByRole('button', { name: 'End lock of alice' }).click()
    await dialog.getByRole('button', { name: 'End lock' }).click()
    await page.getByText('The lock has ended.').waitFor()
    await locks.waitFor({ state: 'detached' })
    expect(await write()).toBe(204)
    // The program that held the lock learns that it has lost it.
    expect(await write({ if: `(<${token}>)` })).toBe(412)

    await rowOf('notes', page).click()
    await details.getByRole('heading', { name: 'notes.txt' }).waitFor()
    await details.getByText('text/plain').waitFor()
    expect(await locks.count()).toBe(0)
    expectQuiet(alice)
  })

  it('shows the lock of another person, which the owner of the drive may end', async () => {
    const [carol, dave] = [await w.person('carol'), await w.person('dave')]
    await carol.upload('shared.txt', 'shared')
    await carol.ask(SHARE, {
      input: { entries: [{ at: { path: 'shared.txt' } }], email: dave.email, mayEdit: true },
    })
    await lockOf(await programOf(dave), '/shared/shared.txt')
    const details = await detailsOf(carol, 'shared')
    const locks = details.getByRole('region', { name: 'Locks' })
    await locks.getByText('dave', { exact: true }).waitFor()
    await locks.getByRole('button', { name: 'End lock of dave' }).click()
    const dialog = carol.page.getByRole('dialog', { name: 'End this lock?' })
    await dialog.getByRole('button', { name: 'End lock' }).click()
    await locks.waitFor({ state: 'detached' })
    const own = await programOf(carol)
    expect((await own('PUT', '/files/shared.txt', { body: 'changed' })).status).toBe(204)
    expectQuiet(carol)
  })
})
