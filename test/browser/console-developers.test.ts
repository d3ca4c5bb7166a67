import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  pictures,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld

beforeAll(async () => {
  w = await startConsole({ GRAPHIQL: 'true' })
}, 120_000)
afterAll(() => w?.stop())

describe('The screen for developers', () => {
  it('creates a key in two clicks, and shows commands that work with it', async () => {
    const alice = await w.person('alice')
    await alice.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await alice.open('/files')
    await page.getByRole('button', { name: 'Account menu' }).click()
    await page.getByRole('menuitem', { name: 'For developers' }).click()
    await page.getByRole('heading', { name: 'For developers', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/developers')
    await expectAccessible(page)
    await pictures(page, 'console-developers')

    await page.getByRole('button', { name: 'Create an API key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('My program')
    for (const box of await dialog.getByRole('checkbox').all()) await box.setChecked(true)
    await dialog.getByRole('button', { name: 'Create a key' }).click()
    const secret = await page.getByLabel('Secret').inputValue()
    await page.getByRole('button', { name: 'Done' }).click()

    const commands = await page.locator('pre').allTextContents()
    expect(commands).toHaveLength(4)
    const [, list = '', upload = '', graphql = ''] = commands
    const folder = await mkdtemp(join(tmpdir(), 'satchel-developers-'))
    try {
      await writeFile(join(folder, 'report.pdf'), 'a report')
      const env = { ...process.env, SATCHEL_KEY: secret }
      const run = async (command: string) =>
        JSON.parse((await promisify(execFile)('sh', ['-c', command], { cwd: folder, env })).stdout)
      expect(await run(upload)).toMatchObject({ status: 200 })
      expect((await run(list)).response.folders).toEqual(['documents'])
      const { data } = await run(graphql)
      expect(data.me.drive.root.entries.nodes).toEqual([{ name: 'documents', size: 8 }])
    } finally {
      await rm(folder, { recursive: true })
    }
    await page.getByRole('button', { name: 'Copy: List your files' }).click()
    await page.getByRole('button', { name: 'Copy: List your files' }).getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(list)
    await page.getByRole('link', { name: 'All keys' }).click()
    await page.getByText('My program').waitFor()
    expectQuiet(alice)
  })

  it('links to the API reference and to GraphiQL, which link back', async () => {
    const bob = await w.person('bob')
    const page = await bob.open('/developers')
    await page.getByRole('link', { name: 'Open the reference' }).click()
    await page.waitForURL(/\/api\/docs$/)
    await page.locator('.opblock').first().waitFor()
    await page.getByRole('link', { name: 'Satchel' }).click()
    await page.waitForURL(/\/files$/)
    await bob.open('/developers')
    await page.getByRole('link', { name: 'Open GraphiQL' }).click()
    await page.waitForURL(/\/graphql$/)
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).waitFor()
  })

  it('speaks German, and fits a phone', async () => {
    const carol = await w.person('carol', { ...telephone, locale: 'de-DE' })
    const page = await carol.open('/developers')
    await page.getByRole('heading', { name: 'Für Entwickler', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'API-Schlüssel erstellen' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await expectAccessible(page)
    await pictures(page, 'console-developers-narrow')
  })
})

it('has no link to GraphiQL if it is disabled', async () => {
  const closed = await startConsole({ GRAPHIQL: 'false' })
  try {
    const dora = await closed.person('dora')
    const page = await dora.open('/developers')
    await page.getByText('GraphiQL is turned off in this installation.').waitFor()
    expect(await page.getByRole('link', { name: 'Open GraphiQL' }).count()).toBe(0)
  } finally {
    await closed.stop()
  }
})
