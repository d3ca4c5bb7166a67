import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  settled,
  startConsole,
  telephone,
} from './console.ts'

let w: ConsoleWorld
let olga: Person
let page: Page

beforeAll(async () => {
  w = await startConsole()
  olga = await w.person('olga')
  page = olga.page
  await olga.upload('Papers/thesis.txt', Buffer.alloc(200_000))
  for (let i = 0; i < 30; i++)
    await olga.ask('{ me { drive { root { entries { nodes { id } } } } } }')
  await olga.context.request.get(`${w.service.url}/api/files/info?path=nothing.txt`)
  await olga.open('/admin/status')
  // The page polls every 15 seconds, at the sampling interval of the service.
  await page.getByRole('slider', { name: 'Requests' }).waitFor()
  await page.getByRole('table', { name: 'Slowest GraphQL fields of the last hour' }).waitFor()
}, 150_000)
afterAll(() => w?.stop())

const heading = (name: string, on = page) =>
  on.getByRole('heading', { name, exact: true }).waitFor()

describe('The status', () => {
  it('shows findings and finished work', async () => {
    const findings = page.getByRole('list', { name: 'Findings' })
    await findings.getByText('No backup was made').waitFor()
    const fields = page.getByRole('table', { name: 'Slowest GraphQL fields of the last hour' })
    // The second sample contains the rest.
    await fields.getByRole('row', { name: /^query me\.drive 30 / }).waitFor()
    await page.getByText('FILE_NOT_FOUND').waitFor()
    await page
      .getByRole('table', { name: 'Fullest drives' })
      .getByRole('link', { name: 'olga' })
      .waitFor()
    await settled(page)
    await expectAccessible(page)
    await pictures(page, 'console-admin-status')
  })

  it('reads the values of each time by keyboard', async () => {
    const slider = page.getByRole('slider', { name: 'Requests' })
    await slider.focus()
    const said = async () => (await slider.getAttribute('aria-valuetext')) ?? ''
    expect(await said()).toMatch(/^\d.*\. answered: .*refused: .*failed: .*cut off: /)
    const before = await slider.inputValue()
    await page.keyboard.press('ArrowLeft')
    expect(Number(await slider.inputValue())).toBe(Number(before) - 1)
    await page.keyboard.press('Home')
    expect(await said()).toContain('answered: unknown')
  })

  it('shows six hours or a day', async () => {
    await page.getByRole('button', { name: '24 hours' }).click()
    await page.getByRole('slider', { name: 'Requests' }).waitFor()
    await page.locator('input[type=range][max="287"]').first().waitFor()
    expect(await page.getByRole('button', { name: '24 hours' }).getAttribute('aria-pressed')).toBe(
      'true',
    )
    expectQuiet(olga)
  })

  it('is hidden from everyone but operators', async () => {
    const paul = await w.person('paul')
    await heading('This is for operators', await paul.open('/admin/status'))
  })
})

it('fits a phone, speaks German, and works from right to left', async () => {
  const small = await w.person('olga', { ...telephone, locale: 'de-DE' })
  const hers = await small.open('/admin/status')
  await hers.getByRole('slider', { name: 'Anfragen' }).waitFor()
  await settled(hers)
  expect(await hers.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await expectAccessible(hers)
  await pictures(hers, 'console-admin-status-telephone')
  const other = await w.person('olga', { locale: 'en-Arab' })
  const mirrored = await other.open('/admin/status')
  await mirrored.getByRole('slider', { name: 'Requests' }).waitFor()
  const flipped = "getComputedStyle(document.querySelector('.status-chart .plot > svg')).transform"
  expect(await mirrored.evaluate(flipped)).toBe('matrix(-1, 0, 0, 1, 0, 0)')
  await expectAccessible(mirrored)
  await pictures(mirrored, 'console-admin-status-rtl')
})
