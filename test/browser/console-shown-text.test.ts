import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { ConsoleWorld } from './console.ts'
import { startConsole } from './console.ts'

let w: ConsoleWorld
beforeAll(async () => {
  w = await startConsole()
}, 120_000)
afterAll(() => w?.stop())

it('shows characters that reverse a name instead of obeying them', async () => {
  const alice = await w.person('alice')
  await alice.upload('bills/invoice\u202Egpj.exe', 'x', 'application/octet-stream')
  const page = await alice.open('/files/bills')
  await page.getByText('invoice\uFFFDgpj.exe').first().waitFor()
  expect(await page.locator('body').textContent()).not.toContain('\u202E')
  expect(await page.locator('[title*="\u202E"], [aria-label*="\u202E"]').count()).toBe(0)
})
