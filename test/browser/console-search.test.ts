import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
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

/** A name that would run a script if it were not escaped. */
const HOSTILE = '<img src=x onerror=alert(1)> invoice.txt'

let w: ConsoleWorld
let alice: Person
let bob: Person

const field = (page: Page) => page.getByRole('searchbox', { name: 'Search' })
const results = (page: Page) => page.getByRole('grid', { name: 'Results' })
const filters = (page: Page) => page.getByRole('toolbar', { name: 'Filters' })
const textOf = (page: Page) => new URL(page.url()).searchParams.get('q')

async function choose(page: Page, chip: string, option: string) {
  await filters(page)
    .getByRole('button', { name: new RegExp(`^${chip}`) })
    .click()
  await page
    .getByRole('menuitem', { name: option })
    .or(page.getByRole('menuitemradio', { name: option }))
    .click()
}

beforeAll(async () => {
  w = await startConsole({ RATE_SEARCHES: '10000', SEARCH_CONTENTS: 'on', DERIVE_PROCESSES: '1' })
  alice = await w.person('alice')
  bob = await w.person('bob')
  await alice.upload('taxes/2026/Invoice March.pdf', 'not a PDF', 'application/pdf')
  await alice.upload('taxes/invoice list.txt', 'one\ntwo\n')
  await alice.upload(`taxes/${HOSTILE}`, 'hostile')
  await alice.upload(
    'letters/to the council.txt',
    'Dear <b>council</b>, the <img src=x onerror=alert(4)> kingfisher is back.',
  )
  const { createWorkspace } = await alice.ask<{
    createWorkspace: { workspace: { drive: { id: string } } }
  }>(
    'mutation ($input: CreateWorkspaceInput!) { createWorkspace(input: $input) { workspace { id drive { id } } } }',
    { input: { name: 'Garden & <b>Club</b>', slug: 'garden' } },
  )
  await alice.ask(
    'mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { id } } }',
    {
      input: { at: { drive: createWorkspace.workspace.drive.id, path: 'plans/invoice drafts' } },
    },
  )
  const { me } = await alice.ask<{ me: { drive: { entry: { id: string } } } }>(
    'query ($path: String!) { me { drive { entry(path: $path) { id } } } }',
    { path: `taxes/${HOSTILE}` },
  )
  await alice.ask('mutation ($input: WriteNoteInput!) { writeNote(input: $input) { note } }', {
    input: {
      file: me.drive.entry.id,
      content: `${'Long before it. '.repeat(8)}Paid by <script>alert(2)</script> cheque <b>twice</b>`,
    },
  })
  await alice.ask(
    'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id } } }',
    {
      input: { entries: [{ at: { path: 'taxes' } }], email: bob.email },
    },
  )
}, 120_000)
afterAll(() => w?.stop())

describe('The search', () => {
  it('finds entries in all drives while typing, from any screen and by keyboard alone', async () => {
    const page = await alice.open('/links')
    await page.getByRole('heading', { name: 'Shared by me' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('invoice')
    await page.waitForURL(/\/search\?q=invoice$/)
    await results(page).waitFor()
    await rowOf('invoice drafts', page).getByText('Garden & <b>Club</b> / plans').waitFor()
    await rowOf('Invoice March', page).getByText('My files / taxes / 2026').waitFor()
    await page.getByRole('status').getByText('4 results').waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-search')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    // The first row has the cursor, and the other keys are those of every list.
    await page.keyboard.press('Home')
    await until(async () => (await page.locator('.hit.selected').count()) === 1)
    await rowOf('invoice list', page).click()
    await page.keyboard.press('Enter')
    const viewer = page.getByRole('dialog', { name: 'invoice list.txt' })
    await viewer.getByText('two').waitFor()
    await page.keyboard.press('Escape')
    await viewer.waitFor({ state: 'detached' })
    expect(await field(page).inputValue()).toBe('invoice')
    await page.goBack()
    await until(async () => !page.url().includes('open='))
    expectQuiet(alice)
  })

  it('is in the URL, so that it can be reloaded and shared, and Back leaves it in one step', async () => {
    const page = await alice.open('/files/taxes')
    await rowOf('2026', page).waitFor()
    await field(page).fill('inv')
    await page.waitForURL(/q=inv$/)
    await field(page).fill('invoice march')
    await page.waitForURL(/q=invoice\+march$|q=invoice%20march$/)
    await rowOf('Invoice March', page).waitFor()
    await page.reload()
    await rowOf('Invoice March', page).waitFor()
    expect(await field(page).inputValue()).toBe('invoice march')
    expect(await page.title()).toContain('invoice march')
    await page.goBack()
    await page.waitForURL(/\/files\/taxes$/)
    await rowOf('2026', page).waitFor()
    expect(await field(page).inputValue()).toBe('')
    expectQuiet(alice)
  })

  it('has filters that mirror the query text', async () => {
    const page = await alice.open('/search?q=invo')
    await rowOf('invoice list', page).waitFor()
    await choose(page, 'Kind', 'PDF')
    await until(() => textOf(page) === 'type:pdf invo')
    expect(await field(page).inputValue()).toBe('type:pdf invo')
    await rowOf('invoice list', page).waitFor({ state: 'detached' })
    await rowOf('Invoice March', page).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-search-filters')
    await filters(page).getByRole('button', { name: 'Remove the filter “Kind”' }).click()
    await rowOf('invoice list', page).waitFor()
    expect(textOf(page)).toBe('invo')
    await choose(page, 'Place', 'Garden & <b>Club</b>')
    await until(() => textOf(page) === 'drive:garden invo')
    await rowOf('invoice drafts', page).waitFor()
    await rowOf('invoice list', page).waitFor({ state: 'detached' })
    // Back removes the filter again.
    await page.goBack()
    await rowOf('invoice list', page).waitFor()
    await field(page).fill('by:me type:image,pdf is:shared invo')
    await filters(page).getByRole('button', { name: 'Kind: Pictures, PDF' }).waitFor()
    await filters(page).getByRole('button', { name: 'Person: Me' }).waitFor()
    await filters(page).getByRole('button', { name: 'Shared', pressed: true }).waitFor()
    await rowOf('Invoice March', page).waitFor()
    await choose(page, 'Changed', 'Before 2025')
    await page.getByRole('heading', { name: /^Nothing found for/ }).waitFor()
    await expectAccessible(page)
    expectQuiet(alice)
  })

  it('escapes hostile names and texts, with the matches marked', async () => {
    const page = await alice.open('/search?q=cheque')
    const row = rowOf('<img src=x onerror=alert(1)> invoice', page)
    await row.waitFor()
    const snippet = row.locator('.snippet')
    await until(async () =>
      (await snippet.textContent())?.includes('</script> cheque <b>twice</b>'),
    )
    expect(await snippet.locator('mark').allTextContents()).toEqual(['cheque'])
    expect(await page.locator('.search-results :is(img, script, b)').count()).toBe(0)
    await expectAccessible(page)
    await pictures(page, 'console-search-snippet')
    const q = '<img src=x onerror=alert(3)>'
    await field(page).fill(q)
    await page
      .getByRole('row')
      .or(page.getByRole('heading', { name: `Nothing found for “${q}”` }))
      .first()
      .waitFor()
    expectQuiet(alice)
  })

  it('shows the matching part of a text unchanged', async () => {
    const page = await alice.open('/search?q=kingfisher')
    const row = rowOf('to the council', page)
    // The service indexes the text some seconds after the upload.
    await until(async () => {
      if ((await row.count()) === 1) return true
      await alice.open('/search?q=kingfisher')
      return (await row.count()) === 1
    })
    await row.locator('.snippet').getByText('Text', { exact: true }).waitFor()
    expect(await row.locator('.snippet').textContent()).toContain(
      'onerror=alert(4)> kingfisher is back.',
    )
    expect(await row.locator('mark').allTextContents()).toEqual(['kingfisher'])
    expect(await page.locator('.search-results :is(img, b)').count()).toBe(0)
    await pictures(page, 'console-search-text')
    expectQuiet(alice)
  })

  it('shows shared entries by their path, opens them, and drops them when the share ends', async () => {
    const page = await bob.open('/search?q=invoice')
    await rowOf('Invoice March', page).getByText('taxes / 2026').waitFor()
    await rowOf('invoice list', page).getByText('Shared by').waitFor()
    await pictures(page, 'console-search-shared')
    await rowOf('invoice list', page).dblclick()
    const viewer = page.getByRole('dialog', { name: 'invoice list.txt' })
    await viewer.getByText('two').waitFor()
    await page.keyboard.press('Escape')
    await rowOf('Invoice March', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Show in its folder' }).click()
    await page.waitForURL(/\/shared\/[^/]+\/2026/)
    await rowOf('Invoice March', page).waitFor()
    await page.goBack()
    await rowOf('invoice list', page).waitFor()
    const { me } = await alice.ask<{ me: { shares: { nodes: { id: string }[] } } }>(
      'query { me { shares(first: 10, kind: DIRECT) { nodes { id } } } }',
    )
    await alice.ask(
      'mutation ($input: RevokeShareInput!) { revokeShare(input: $input) { entry { id } } }',
      {
        input: { share: { id: me.shares.nodes[0]?.id } },
      },
    )
    await field(page).fill('invoice ')
    await page.getByRole('heading', { name: 'Nothing found for “invoice”' }).waitFor()
    await page.goBack()
    await bob.open('/search?q=invoice')
    await page.getByRole('heading', { name: 'Nothing found for “invoice”' }).waitFor()
    expectQuiet(bob)
  })

  it('acts on a selection in one place', async () => {
    await alice.upload('loose/heron one.txt', '1')
    await alice.upload('loose/heron two.txt', '2')
    const page = await alice.open('/search?q=heron')
    await rowOf('heron one', page).click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.getByText('2 selected').waitFor()
    const [archive] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as ZIP' }).click(),
    ])
    expect(archive.suggestedFilename()).toMatch(/\.zip$/)
    await rowOf('heron one', page).click()
    await page.keyboard.press('Delete')
    await rowOf('heron one', page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await rowOf('heron one', page).waitFor()
    await rowOf('heron two', page).click({ button: 'right' })
    await pictures(page, 'console-search-menu')
    await page.getByRole('menuitem', { name: 'Share…' }).click()
    await page.getByRole('dialog', { name: 'Share “heron two.txt”' }).waitFor()
    await page.keyboard.press('Escape')
    await rowOf('heron two', page).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Show in its folder' }).click()
    await page.waitForURL(/\/files\/loose\?sel=/)
    await page.locator('.row.selected').getByText('heron two').waitFor()
    await field(page).fill('invoice')
    await rowOf('invoice drafts', page).click()
    await rowOf('invoice list', page).click({ modifiers: ['ControlOrMeta'] })
    await page.getByText('2 selected, in different places').waitFor()
    expectQuiet(alice)
  })

  it('acts on a selection in several places, separately for each', async () => {
    const page = await alice.open('/search?q=invoice')
    const both = ['invoice drafts', 'invoice list']
    const isGone = (state: 'attached' | 'detached') =>
      Promise.all(both.map(name => rowOf(name, page).waitFor({ state })))
    const selectBoth = async () => {
      await rowOf('invoice drafts', page).click()
      await rowOf('invoice list', page).click({ modifiers: ['ControlOrMeta'] })
      await page.getByText('2 selected, in different places').waitFor()
    }
    await selectBoth()
    const saved: string[] = []
    page.on('download', download => saved.push(download.suggestedFilename()))
    await page.getByRole('button', { name: 'Download as ZIP' }).click()
    await until(() => saved.length === 2)
    expect(saved.sort()).toEqual(['invoice drafts.zip', 'invoice list.txt'])
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Copy to…' }).waitFor()
    const offered = await page.getByRole('menuitem').locator('span').allTextContents()
    expect(offered).toEqual(['Download as ZIP', 'Add to favourites', 'Copy to…', 'Delete'])
    await expectAccessible(page)
    await pictures(page, 'console-search-mixed')
    await page.getByRole('menuitem', { name: 'Add to favourites' }).click()
    await page.getByText('2 items are favourites.').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await isGone('detached')
    await page.getByRole('button', { name: 'Undo' }).click()
    await isGone('attached')
    await selectBoth()
    await page.keyboard.press('Alt+c')
    const picker = page.getByRole('dialog', { name: 'Copy 2 items' })
    await picker.getByRole('button', { name: 'Copy here' }).click()
    await page.getByText('2 items copied').waitFor()
    const copies = async () => {
      const { me } = await alice.ask<{
        me: { drive: { root: { entries: { nodes: { name: string }[] } } } }
      }>('{ me { drive { root { entries(first: 100) { nodes { name } } } } } }')
      return me.drive.root.entries.nodes
        .map(({ name }) => name)
        .filter(name => name.startsWith('invoice'))
    }
    expect((await copies()).sort()).toEqual(['invoice drafts', 'invoice list.txt'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await until(async () => (await copies()).length === 0)
    expectQuiet(alice)
  })

  it('explains corrections and the syntax, and starts with an empty screen', async () => {
    const page = await alice.open('/search')
    await page.getByRole('heading', { name: 'Search your files' }).waitFor()
    await until(() => page.evaluate("document.activeElement?.type === 'search'"))
    await expectAccessible(page)
    await pictures(page, 'console-search-empty')
    await field(page).fill('colour:red')
    await page.getByRole('status').getByText('colour:red is not a valid filter').waitFor()
    await page.getByRole('button', { name: 'How to search' }).first().click()
    const help = page.getByRole('dialog', { name: 'How to search' })
    await help.waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-search-help')
    await help.getByRole('button', { name: 'type:pdf' }).click()
    await rowOf('Invoice March', page).waitFor()
    expect(textOf(page)).toBe('type:pdf')
    expectQuiet(alice)
  })

  it('aborts an outdated request, and retries after a failure', async () => {
    const page = await alice.open('/links')
    const held: (() => void)[] = []
    let isDown = false
    await page.route('**/graphql', async route => {
      const query = (route.request().postDataJSON() as { variables?: { query?: string } } | null)
        ?.variables?.query
      if (isDown && query) return route.abort()
      if (query === 'heron') await new Promise<void>(resolve => held.push(resolve))
      return route.continue().catch(() => {})
    })
    const asked = page.waitForRequest(request => Boolean(request.postData()?.includes('"heron"')))
    const ended = page.waitForEvent('requestfailed', request =>
      Boolean(request.postData()?.includes('"heron"')),
    )
    await field(page).fill('heron')
    await asked
    await field(page).fill('invoice list')
    await ended
    for (const go of held) go()
    await rowOf('invoice list', page).waitFor()
    expect(await rowOf('heron one', page).count()).toBe(0)
    isDown = true
    await field(page).fill('heron two')
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
    isDown = false
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await rowOf('heron two', page).waitFor()
    await page.unroute('**/graphql')
    for (const error of alice.errors.splice(0)) expect(error).toContain('ERR_FAILED')
  })

  it('loads further pages on demand, in the chosen order', async () => {
    const names = Array.from({ length: 130 }, (_, n) => `lark ${String(n).padStart(3, '0')}.txt`)
    for (const name of names) await alice.upload(`birds/${name}`, name)
    const page = await alice.open('/search?q=lark')
    await page.getByRole('button', { name: 'Sort by' }).click()
    await page.getByRole('menuitemradio', { name: 'Name' }).click()
    await rowOf('lark 000', page).waitFor()
    expect(new URL(page.url()).searchParams.get('order')).toBe('name')
    await rowOf('lark 000', page).click()
    await until(async () => {
      await page.keyboard.press('End')
      return (await rowOf('lark 129', page).count()) === 1
    })
    await page
      .getByRole('status')
      .getByText('130 results')
      .or(page.getByText('1 selected'))
      .waitFor()
    expectQuiet(alice)
  })

  it('is reached from the bottom bar of a phone, like the home screen, in German', async () => {
    const dora = await w.person('dora', { ...telephone, locale: 'de-DE' })
    await dora.upload(
      'notes/a long walk along the river in the rain and home again by the last train.txt',
      'rain',
    )
    const { me } = await dora.ask<{ me: { drive: { search: { nodes: { id: string }[] } } } }>(
      'query { me { drive { search(query: "walk", first: 1) { nodes { id } } } } }',
    )
    await dora.ask('mutation ($input: WriteNoteInput!) { writeNote(input: $input) { note } }', {
      input: {
        file: me.drive.search.nodes[0]?.id,
        content: `${'We left early and walked on. '.repeat(4)}A heron stood in the reeds, and the rain began.`,
      },
    })
    const page = await dora.open('/files')
    const foot = page.getByRole('navigation')
    await foot.getByRole('link', { name: 'Start' }).tap()
    await page.waitForURL(/\/start$/)
    await foot.getByRole('link', { name: 'Suche' }).tap()
    await page.waitForURL(/\/search$/)
    await page.getByRole('searchbox').fill('heron')
    await page.locator('.snippet mark').waitFor()
    expect((await page.locator('.snippet mark').boundingBox())?.width).toBeGreaterThan(10)
    await expectAccessible(page)
    await pictures(page, 'console-search-telephone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.locator('.hit').tap()
    await page.getByRole('dialog').getByText('rain').last().waitFor()
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await foot.getByRole('button', { name: 'Mehr' }).tap()
    await expectAccessible(page)
    await pictures(page, 'console-more-telephone')
    await page.getByRole('menuitem', { name: 'Papierkorb' }).tap()
    await page.waitForURL(/\/trash$/)
    expectQuiet(dora)
  })
})
