import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let alice: Person
let bob: Person

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  bob = await w.person('bob')
}, 120_000)
afterAll(() => w?.stop())

const viewer = (page: Page) => page.locator('.viewer')
const editor = (page: Page) => page.locator('.text-place:not([hidden]) .cm-content').last()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).last()
const said = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).first().waitFor()
const alerted = (page: Page, text: string | RegExp) =>
  page.getByRole('alert').filter({ hasText: text }).first().waitFor()

/** Opens a file in the viewer. */
async function show(page: Page, name: string): Promise<void> {
  await rowOf(name, page).waitFor()
  await rowOf(name, page).click()
  await page.keyboard.press('Enter')
  await viewer(page).getByText(name, { exact: true }).waitFor()
}

/** Opens a file of a folder in the editor. */
async function edit(who: Person, folder: string, name: string): Promise<Page> {
  const page = await who.open(folder)
  await show(page, name)
  await button(page, 'Edit').click()
  await editor(page).waitFor()
  return page
}

/** Types at the end of the text. */
async function type(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(text)
}

interface Stored {
  id: string
  revision: number
  contentType: string
  versions: { nodes: { id: string }[] }
  download: { url: string }
}

async function stored(path: string, who = alice): Promise<Stored | null> {
  const { me } = await who.ask<{ me: { drive: { entry: Stored | null } } }>(
    `query ($path: String!) { me { drive { entry(path: $path) { id ... on File {
      revision contentType versions(first: 10) { nodes { id } } download { url } } } } } }`,
    { path },
  )
  return me.drive.entry
}

/** The bytes of a file, according to the service. */
async function bytesOf(path: string, who = alice): Promise<Buffer> {
  const file = await stored(path, who)
  return (await who.context.request.get(file?.download.url ?? '')).body()
}

const textOf = async (path: string, who = alice) => (await bytesOf(path, who)).toString()

/** Replaces the content of a file by another client. */
async function replace(path: string, content: string, who = alice): Promise<void> {
  const cut = path.lastIndexOf('/')
  const answer = await who.context.request.post(`${w.service.url}/api/files/upload`, {
    multipart: {
      folder: path.slice(0, Math.max(0, cut)),
      on_conflict: 'replace',
      file: { name: path.slice(cut + 1), mimeType: 'text/plain', buffer: Buffer.from(content) },
    },
  })
  expect(answer.ok()).toBe(true)
}

/** Shares an entry of Alice with Bob. */
async function share(path: string, terms: object): Promise<{ id: string; url: string }> {
  type Shared = { createDirectShare: { shares: { id: string; url: string }[] } }
  const { createDirectShare } = await alice.ask<Shared>(
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id url } } }',
    { input: { entries: [{ at: { path } }], email: bob.email, ...terms } },
  )
  return createDirectShare.shares[0] ?? { id: '', url: '' }
}

describe('Editing a text', () => {
  it('saves a new version with Ctrl+S, in the view and in the service', async () => {
    await alice.upload('texts/readme.md', '# Plan\n\n- tea\n', 'text/markdown')
    const page = await edit(alice, '/files/texts', 'readme.md')
    await type(page, '- coffee\n')
    await said(page, 'A draft is kept in this browser.')
    await expectAccessible(page)
    await pictures(page, 'edit-markdown')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('texts/readme.md')).toBe('# Plan\n\n- tea\n- coffee\n')
    const file = await stored('texts/readme.md')
    expect(file?.versions.nodes).toHaveLength(1)
    expect(file?.contentType).toBe('text/markdown')
    // Nothing is unsaved, so nothing is asked.
    await page.keyboard.press('Escape')
    await viewer(page).getByRole('listitem').filter({ hasText: 'coffee' }).waitFor()
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Edit')
    await page.keyboard.press('Escape')
    await viewer(page).waitFor({ state: 'detached' })
  })

  it('asks before unsaved changes are lost, in the view and when the page is left', async () => {
    await alice.upload('texts/asked.txt', 'one', 'text/plain')
    const page = await edit(alice, '/files/texts', 'asked.txt')
    await type(page, ' two')
    await said(page, 'A draft is kept')
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Save your changes to' })
    await question.waitFor()
    await expectAccessible(page)
    await pictures(page, 'edit-leave')
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await type(page, ' three')
    // The browser asks before it leaves the page.
    const asked = page.waitForEvent('dialog')
    page.reload().catch(() => {})
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    // So does the console, for its own history.
    await page.evaluate('history.back()')
    await question.waitFor()
    await question.getByRole('button', { name: 'Save', exact: true }).click()
    await viewer(page).waitFor({ state: 'detached' })
    expect(await textOf('texts/asked.txt')).toBe('one two three')
    // Discarded changes are gone, and leave no draft.
    await edit(alice, '/files/texts', 'asked.txt')
    await type(page, ' four')
    await said(page, 'A draft is kept')
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Discard' }).click()
    await viewer(page).locator('.text-scroll').getByText('one two three').waitFor()
    expect(await page.getByText('You have unsaved changes').count()).toBe(0)
    expect(await textOf('texts/asked.txt')).toBe('one two three')
  })

  it('finds and replaces by keyboard, where Esc closes only the search', async () => {
    await alice.upload('texts/words.py', 'a = 1\nb = a\n', 'text/x-python')
    const page = await edit(alice, '/files/texts', 'words.py')
    await editor(page).locator('.hljs-number').first().waitFor()
    await page.keyboard.press('Control+f')
    const find = page.getByRole('textbox', { name: 'Find' })
    await find.waitFor()
    await page.keyboard.insertText('a')
    await page.getByRole('textbox', { name: 'Replace' }).fill('total')
    await expectAccessible(page)
    await pictures(page, 'edit-find')
    await page.getByRole('button', { name: 'Replace all' }).click()
    await page.keyboard.press('Escape')
    await find.waitFor({ state: 'detached' })
    await editor(page).waitFor()
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('texts/words.py')).toBe('total = 1\nb = total\n')
  })

  it('keeps character sets, line breaks and byte order marks', async () => {
    const latin = Buffer.from('Gr\xfc\xdfe aus M\xfcnchen, sch\xf6ne Gr\xfc\xdfe\r\n', 'latin1')
    await alice.upload('texts/latin.txt', latin)
    const page = await edit(alice, '/files/texts', 'latin.txt')
    await viewer(page).getByText('windows-1252', { exact: true }).waitFor()
    await type(page, '\u00e4\n')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await bytesOf('texts/latin.txt')).toEqual(
      Buffer.concat([latin, Buffer.from('\xe4\r\n', 'latin1')]),
    )
    // The set has no such character.
    await type(page, '\u6f22')
    await said(page, 'Saving changes the file to UTF-8.')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('texts/latin.txt')).toBe(
      'Gr\u00fc\u00dfe aus M\u00fcnchen, sch\u00f6ne Gr\u00fc\u00dfe\r\n\u00e4\r\n\u6f22',
    )

    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('a;b\r\n1;2\n')])
    await alice.upload('texts/mixed.csv', marked, 'text/csv')
    await edit(alice, '/files/texts', 'mixed.csv')
    await type(page, '3;4')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await bytesOf('texts/mixed.csv')).toEqual(Buffer.concat([marked, Buffer.from('3;4')]))

    // Without the last line, all line breaks are the same.
    await alice.upload('texts/shorter.txt', 'one\r\ntwo\n')
    await edit(alice, '/files/texts', 'shorter.txt')
    await editor(page).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    await type(page, ' three')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('texts/shorter.txt')).toBe('one\r\ntwo three')
  })

  it('refuses files that are too large or no text, and says why', async () => {
    await alice.upload('texts/large.txt', Buffer.alloc(2 * 1024 * 1024 + 1, 'a'))
    await alice.upload('texts/binary.txt', Buffer.from('text\0with zeros\0'))
    const page = await alice.open('/files/texts')
    await show(page, 'large.txt')
    await button(page, 'Edit').click()
    await alerted(page, /too large to edit here\. Texts can have up to 2\sMiB/)
    await button(page, 'Back').click()
    await alice.open('/files/texts')
    await show(page, 'binary.txt')
    await button(page, 'Edit').click()
    await alerted(page, 'cannot be edited here')
    await expectAccessible(page)
    await pictures(page, 'edit-refused')
  })

  it('creates a text file from the menu, with the keyboard alone', async () => {
    const page = await alice.open('/files/texts')
    await button(page, 'New').press('Enter')
    await page.getByRole('menuitem', { name: 'New text file' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New text file' })
    await dialog.getByLabel('Name').fill('today')
    await expectAccessible(page)
    await pictures(page, 'edit-new')
    await page.keyboard.press('Enter')
    await editor(page).waitFor()
    await page.keyboard.insertText('Buy tea')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('texts/today.txt')).toBe('Buy tea')
    // The name is taken now.
    await alice.open('/files/texts')
    await button(page, 'New').click()
    await page.getByRole('menuitem', { name: 'New text file' }).click()
    await dialog.getByLabel('Name').fill('today')
    await page.keyboard.press('Enter')
    await alerted(page, 'today.txt')
  })
})

describe('A draft', () => {
  it('survives the end of the page, and is offered when the file is opened again', async () => {
    await alice.upload('drafts/note.md', 'first\n', 'text/markdown')
    const page = await alice.context.newPage()
    await page.goto(`${w.service.url}/files/drafts`)
    await show(page, 'note.md')
    await button(page, 'Edit').click()
    await type(page, 'never saved')
    await said(page, 'A draft is kept')
    // Without any handler of the page.
    await page.close({ runBeforeUnload: false })
    const again = await alice.open('/files/drafts')
    await show(again, 'note.md')
    await said(again, 'You have unsaved changes to this file')
    await expectAccessible(again)
    await pictures(again, 'edit-draft')
    await button(again, 'Continue editing').click()
    await editor(again).getByText('never saved').waitFor()
    await said(again, 'These are your unsaved changes')
    await again.keyboard.press('Control+s')
    await said(again, /^Saved$/)
    expect(await textOf('drafts/note.md')).toBe('first\nnever saved')
  })

  it('of an older text is compared with the present one', async () => {
    await alice.upload('drafts/old.txt', 'one\ntwo\n')
    const page = await edit(alice, '/files/drafts', 'old.txt')
    await type(page, 'mine')
    await said(page, 'A draft is kept')
    await page.goto('about:blank').catch(() => {})
    await replace('drafts/old.txt', 'one\n2\n')
    await alice.open('/files/drafts')
    await show(page, 'old.txt')
    await button(page, 'Continue editing').click()
    await alerted(page, 'Somebody changed this file')
    await button(page, 'Save my text').click()
    await said(page, /^Saved$/)
    expect(await textOf('drafts/old.txt')).toBe('one\ntwo\nmine')
  })

  it('is stored while the person types without a pause', async () => {
    await alice.upload('drafts/fast.txt', 'one ')
    const page = await edit(alice, '/files/drafts', 'fast.txt')
    await editor(page).click()
    let isTyping = true
    const typing = page.keyboard.type('x'.repeat(60), { delay: 50 }).finally(() => {
      isTyping = false
    })
    await said(page, 'A draft is kept')
    expect(isTyping).toBe(true)
    await typing
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
  })

  it('belongs to one person, and is deleted at sign-out', async () => {
    await alice.upload('drafts/mine.txt', 'one')
    const page = await edit(alice, '/files/drafts', 'mine.txt')
    await type(page, ' secret')
    await said(page, 'A draft is kept')
    const count = `new Promise((resolve, reject) => {
      const open = indexedDB.open('satchel-drafts')
      open.onerror = reject
      open.onsuccess = () => {
        if (!open.result.objectStoreNames.contains('drafts')) return resolve(0)
        const all = open.result.transaction('drafts').objectStore('drafts').count()
        all.onsuccess = () => { open.result.close(); resolve(all.result) }
      }
    })`
    expect(await page.evaluate(count)).toBeGreaterThan(0)
    page.on('dialog', dialog => void dialog.accept())
    await page.goto('about:blank')
    await alice.open('/files/drafts')
    // Another person has written the draft, on another page of this browser.
    await show(page, 'mine.txt')
    await said(page, 'You have unsaved changes to this file')
    await page.evaluate(`new Promise((resolve, reject) => {
      const open = indexedDB.open('satchel-drafts')
      open.onerror = reject
      open.onsuccess = () => {
        const transaction = open.result.transaction('drafts', 'readwrite')
        const at = transaction.objectStore('drafts').openCursor()
        at.onsuccess = () => {
          at.result?.update({ ...at.result.value, person: 'another' })
          at.result?.continue()
        }
        transaction.oncomplete = () => { open.result.close(); resolve() }
      }
    })`)
    await button(page, 'Continue editing').click()
    await editor(page).getByText('one', { exact: true }).waitFor()
    // This page has the database open.
    const deleted = await page.evaluate(`new Promise(resolve => {
      const asked = indexedDB.deleteDatabase('satchel-drafts')
      asked.onblocked = () => resolve('blocked')
      asked.onsuccess = () => resolve('deleted')
    })`)
    expect(deleted).toBe('deleted')
    await type(page, ' secret')
    await said(page, 'A draft is kept')
    await page.goto('about:blank')
    await alice.open('/files')
    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(url => !url.pathname.startsWith('/files'))
    expect(await page.evaluate(count)).toBe(0)
    alice = await w.person('alice')
  })
})

describe('Two people', () => {
  it('see both texts of a conflict, and lose neither', async () => {
    await alice.upload('team/plan.md', 'tea\nmilk\n', 'text/markdown')
    const { id } = await share('team', { mayEdit: true })
    const hers = await edit(alice, '/files/team', 'plan.md')
    await type(hers, 'from alice')
    const his = await edit(bob, `/shared/${id}`, 'plan.md')
    await type(his, 'from bob')
    await his.keyboard.press('Control+s')
    await said(his, /^Saved$/)
    await hers.keyboard.press('Control+s')
    await alerted(hers, 'while you edited it.')
    await alerted(hers, 'theirs stays as an earlier version')
    const sides = hers.locator('.text-place:not([hidden]) .cm-content')
    await sides.first().getByText('from bob').waitFor()
    await sides.last().getByText('from alice').waitFor()
    await expectAccessible(hers)
    await pictures(hers, 'edit-conflict')
    await button(hers, 'Save my text').click()
    await said(hers, /^Saved$/)
    expect(await textOf('team/plan.md')).toBe('tea\nmilk\nfrom alice')
    const versions = (await stored('team/plan.md'))?.versions.nodes
    expect(versions).toHaveLength(2)

    // Bob still has his own text open.
    await type(his, ', again')
    await his.keyboard.press('Control+s')
    await alerted(his, 'the owner of the share can restore theirs')
    await button(his, 'Save mine as a copy').click()
    await said(his, 'Your text is saved as')
    const { me } = await alice.ask<{
      me: { drive: { entry: { entries: { nodes: { name: string }[] } } } }
    }>('{ me { drive { entry(path: "team") { ... on Folder { entries { nodes { name } } } } } } }')
    const names = me.drive.entry.entries.nodes.map(({ name }) => name)
    expect(names).toHaveLength(2)
    const copy = names.find(name => name !== 'plan.md')
    expect(await textOf(`team/${copy}`)).toBe('tea\nmilk\nfrom bob, again')
    expect(await textOf('team/plan.md')).toBe('tea\nmilk\nfrom alice')
  })

  it('are asked before what was typed into the comparison is lost', async () => {
    await alice.upload('team/undone.txt', 'one')
    const page = await edit(alice, '/files/team', 'undone.txt')
    await type(page, ' two')
    await alice.context.setOffline(true)
    await page.keyboard.press('Control+s')
    await alerted(page, 'The service cannot be reached')
    await alice.context.setOffline(false)
    // An unreachable service may have saved it, so the undone text is saved, too.
    await page.keyboard.press('Control+z')
    await replace('team/undone.txt', 'other')
    await page.keyboard.press('Control+s')
    await alerted(page, 'Somebody changed this file')
    await type(page, ' mine')
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Save your changes to' })
    await question.getByRole('button', { name: 'Discard' }).click()
    await question.waitFor({ state: 'detached' })
  })

  it('can take the other text, and get the own one back with Ctrl+Z', async () => {
    await alice.upload('team/take.txt', 'one\n')
    const page = await edit(alice, '/files/team', 'take.txt')
    await type(page, 'mine')
    await replace('team/take.txt', 'one\ntheirs')
    await page.keyboard.press('Control+s')
    await button(page, 'Use their text').click()
    await editor(page).getByText('theirs').waitFor()
    await page.keyboard.press('Control+z')
    await editor(page).getByText('mine').waitFor()
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('team/take.txt')).toBe('one\nmine')
  })

  it('may rename or move the file meanwhile, which changes no text', async () => {
    await alice.upload('team/before.txt', 'one')
    const page = await edit(alice, '/files/team', 'before.txt')
    await type(page, ' two')
    const moved = await alice.ask<{ moveEntries: { entries: { id: string }[] } }>(
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
      {
        input: {
          entries: [{ at: { path: 'team/before.txt' } }],
          to: { at: { path: 'drafts' } },
        },
      },
    )
    expect(moved.moveEntries.entries).toHaveLength(1)
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('drafts/before.txt')).toBe('one two')
    expect(await stored('team/before.txt')).toBeNull()
  })

  it('may delete the file meanwhile: the text is saved as a new file', async () => {
    await alice.upload('team/gone.txt', 'one')
    const page = await edit(alice, '/files/team', 'gone.txt')
    await type(page, ' two')
    await alice.ask(
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }',
      { input: { entries: [{ at: { path: 'team/gone.txt' } }] } },
    )
    await page.keyboard.press('Control+s')
    await alerted(page, 'This file was moved or deleted.')
    await expectAccessible(page)
    await button(page, 'Save as a new file').click()
    await said(page, 'Your text is saved as')
    expect(await textOf('team/gone.txt')).toBe('one two')
  })

  it('may put another file in its place, which has the same revision and stays', async () => {
    await alice.upload('team/swapped.txt', 'one')
    const page = await edit(alice, '/files/team', 'swapped.txt')
    await type(page, ' two')
    const before = await stored('team/swapped.txt')
    await alice.ask(
      'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }',
      { input: { entries: [{ at: { path: 'team/swapped.txt' } }] } },
    )
    await alice.upload('team/swapped.txt', 'another file')
    const after = await stored('team/swapped.txt')
    expect(after?.id).not.toBe(before?.id)
    expect(after?.revision).toBe(before?.revision)
    await page.keyboard.press('Control+s')
    await alerted(page, 'This file was moved or deleted.')
    await button(page, 'Save as a new file').click()
    await said(page, 'Your text is saved as')
    expect(await textOf('team/swapped.txt')).toBe('another file')
  })
})

describe('Without the service, and in shares', () => {
  it('keeps the text when it cannot be saved, and saves it later', async () => {
    await alice.upload('texts/offline.txt', 'one')
    const page = await edit(alice, '/files/texts', 'offline.txt')
    await type(page, ' two')
    await alice.context.setOffline(true)
    await page.keyboard.press('Control+s')
    await alerted(page, 'The service cannot be reached, so nothing was saved.')
    await alerted(page, 'Your text stays as a draft in this browser.')
    await pictures(page, 'edit-offline')
    await alice.context.setOffline(false)
    await button(page, 'Save').click()
    await said(page, /^Saved$/)
    expect(await textOf('texts/offline.txt')).toBe('one two')
  })

  it('edits a single shared file, but not what may only be read', async () => {
    await alice.upload('alone.txt', 'one')
    await alice.upload('readonly/fixed.txt', 'one')
    await share('alone.txt', { mayEdit: true })
    const { id } = await share('readonly', {})
    const page = await bob.open(`/shared/${id}`)
    await show(page, 'fixed.txt')
    await viewer(page).getByText('one', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0)
    await bob.open('/shared')
    await page.getByRole('button', { name: 'alone.txt', exact: true }).click()
    await button(page, 'Edit').click()
    await type(page, ' two')
    await replace('alone.txt', 'other')
    await page.keyboard.press('Control+s')
    await alerted(page, 'Somebody changed this file')
    await button(page, 'Save my text').click()
    await said(page, /^Saved$/)
    expect(await textOf('alone.txt')).toBe('one two')
  })

  it('finds the file of a share that has more files of this name than one page of results', async () => {
    const folders = Array.from({ length: 101 }, (_, i) => `same/more/${i}`)
    for (const folder of folders) await alice.upload(`${folder}/notes.txt`, 'other')
    // The results with the same name are ordered by id, so this file is the last one.
    await alice.upload('same/notes.txt', 'one')
    const { id } = await share('same', { mayEdit: true })
    const page = await edit(bob, `/shared/${id}`, 'notes.txt')
    await type(page, ' two')
    await page.keyboard.press('Control+s')
    await said(page, /^Saved$/)
    expect(await textOf('same/notes.txt')).toBe('one two')
  })

  it.each([
    ['ends', 'mutation ($id: ID!) { revokeShare(input: { share: { id: $id } }) { revokedId } }'],
    [
      'loses the right',
      'mutation ($id: ID!) { updateShare(input: { share: { id: $id }, mayEdit: false }) { share { id } } }',
    ],
  ])('keeps the text on the page when the share %s', async (what, mutation) => {
    const folder = `rights-${what.length}`
    await alice.upload(`${folder}/held.txt`, 'one')
    const { id } = await share(folder, { mayEdit: true })
    const page = await edit(bob, `/shared/${id}`, 'held.txt')
    await type(page, ' of bob')
    await said(page, 'A draft is kept')
    await alice.ask(mutation, { id })
    // The screen looks for changes every five seconds.
    await page.waitForTimeout(7000)
    await editor(page).getByText('one of bob').waitFor()
    await page.keyboard.press('Control+s')
    await alerted(page, 'Your text stays as a draft in this browser.')
    await pictures(page, `edit-right-${what.length}`)
    const download = page.waitForEvent('download')
    await button(page, 'Download my text').click()
    const file = await (await download).path()
    expect(file).not.toBe('')
    expect(await textOf(`${folder}/held.txt`)).toBe('one')
  })
})

it('is used on a phone', async () => {
  const phone = await w.person('alice', telephone)
  await alice.upload('phone/list.md', '# Shopping\n\n- tea\n', 'text/markdown')
  const page = await phone.open('/files/phone')
  await rowOf('list', page).tap()
  await button(page, 'Edit').tap()
  await type(page, '- milk\n')
  await said(page, 'A draft is kept')
  await expectAccessible(page)
  await pictures(page, 'edit-phone')
  await replace('phone/list.md', '# Shopping\n\n- coffee\n')
  await button(page, 'Save').tap()
  await alerted(page, 'Somebody changed this file')
  await expectAccessible(page)
  await pictures(page, 'edit-phone-conflict')
  await button(page, 'Save my text').tap()
  await said(page, /^Saved$/)
  await eventually(async () =>
    expect(await textOf('phone/list.md')).toBe('# Shopping\n\n- tea\n- milk\n'),
  )
  expectQuiet(phone)
})

it('is used in German', async () => {
  const german = await w.person('alice', { locale: 'de-DE' })
  const page = await german.open('/files/phone')
  await show(page, 'list.md')
  await button(page, 'Bearbeiten').click()
  await type(page, '- Kuchen\n')
  await said(page, 'Ein Entwurf liegt in diesem Browser.')
  await page.keyboard.press('Control+f')
  await page.getByRole('textbox', { name: 'Suchen' }).waitFor()
  await pictures(page, 'edit-german')
})

it('loads nothing from other origins, and its styles follow the policy of the page', () => {
  // In the last tests, the browser reported refused requests.
  expect(alice.foreign).toEqual([])
  expect(alice.errors.filter(error => /Content Security Policy/i.test(error))).toEqual([])
})
