import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  type Person,
  pictures,
  settled,
  startConsole,
} from './console.ts'
import { type Deployment, startDeployment } from './next-build.ts'

let w: ConsoleWorld
let alice: Person
let deployment: Deployment
let page: Page

beforeAll(async () => {
  w = await startConsole({}, { serviceWorkers: 'allow' })
}, 120_000)
afterAll(() => w?.stop())
beforeEach(async () => {
  deployment = await startDeployment(w.service.url)
  alice = await w.person('alice')
  page = alice.page
  // Until the installation is complete.
  await page.goto(`${deployment.url}/files`)
  await settled(page)
  await page.evaluate(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller ||
    new Promise(resolve => navigator.serviceWorker.addEventListener('controllerchange', resolve)))`)
})
afterEach(async () => {
  await alice.context.close()
  await deployment.close()
})

const offer = (on: Page) => on.getByRole('status').filter({ hasText: 'There is a new version' })
const assetsKept = (): Promise<string[]> =>
  page.evaluate(`caches.keys().then(names => names.filter(name => name.startsWith('console-')))`)
const buildOf = (on: Page) =>
  on.evaluate(`document.querySelector('meta[name="build"]')?.content ?? 'first'`)
/** Simulates a person's return to a tab. */
const lookAtTab = (on: Page) => on.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)

describe('When the service has a new build of the console, an open tab', () => {
  it('keeps working, offers the new build, and loads it on request', async () => {
    const before = await assetsKept()
    deployment.deploy()
    await lookAtTab(page)
    await offer(page).waitFor()
    await expectAccessible(page)
    await pictures(page, 'console-new-version')
    // Screens that are not loaded yet, and whose files the service no longer has.
    await page.getByRole('link', { name: 'Workspaces' }).click()
    await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor()
    expect([await buildOf(page), alice.errors]).toEqual(['first', []])
    expect(await assetsKept()).toEqual([...before, 'console-next'])

    await offer(page).getByRole('button', { name: 'Load it' }).click()
    await page.locator('meta[name="build"]').waitFor({ state: 'attached' })
    await settled(page)
    expect(await page.getByRole('heading', { name: 'Trash', exact: true }).count()).toBe(1)
    await eventually(async () => expect(await assetsKept()).toEqual(['console-next']))
    expect(await offer(page).count()).toBe(0)
  })

  it('keeps its files while another tab runs the new build', async () => {
    deployment.deploy()
    await lookAtTab(page)
    await offer(page).waitFor()
    const other = await alice.context.newPage()
    await other.goto(`${deployment.url}/files`)
    await settled(other)
    expect([await buildOf(other), await offer(other).count()]).toEqual(['next', 0])
    await page.getByRole('link', { name: 'Shared by me' }).click()
    await page.getByRole('heading', { name: 'Shared by me', exact: true }).waitFor()
    expect([(await assetsKept()).length, await buildOf(page), alice.errors]).toEqual([
      2,
      'first',
      [],
    ])
  })
})
