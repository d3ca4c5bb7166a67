import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { localCoordination } from '../../src/coordination/local.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { appGroups, type Identity } from '../support/authorization.ts'
import {
  aimForApps,
  appFileRows,
  appRows,
  expectedInApps,
  expectedStatus,
} from '../support/authorization-apps.ts'
import { davCell } from '../support/authorization-dav.ts'
import { World } from '../support/authorization-world.ts'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import { startApp, type TestApp } from '../support/harness.ts'

// Every route of the apps of Nextcloud and ownCloud with every kind of key.

let t: TestApp
let world: World
beforeAll(async () => {
  // Without this, expired keys would count as guesses, which are slowed down.
  const coordination = localCoordination()
  const add: Coordination['add'] = async (key, ...rest) =>
    key.startsWith('satchel:webdav') ? 0 : coordination.add(key, ...rest)
  t = await startApp(
    { ...UNHURRIED, PREVIEWS: 'true' },
    { instance: { coordination: { ...coordination, add }, history: createRecorder() } },
  )
  await t.limit({ ...ROOMY, maxFiles: null, maxFilesWorkspace: null, maxWorkspaceFolders: null })
  await t.app.worker.stop()
  world = new World(t)
})
afterAll(() => t.stop())

const identities = Object.values(appGroups).flat()
const byTitle = (cellOf: (identity: Identity) => unknown) =>
  Object.fromEntries(identities.map(identity => [identity.title, cellOf(identity)]))

describe('Permissions in the files of the apps', () => {
  it.each(appFileRows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const outcomes = new Map<Identity, string>()
      let aimed: ReturnType<typeof aimForApps> | undefined
      for (const identity of identities) {
        const caller = await world.callerOf(identity, row.scope)
        aimed ??= world.things().then(things => aimForApps(row, things))
        const aim = await aimed
        const { path = aim.path, ...request } = await row.request(aim, caller)
        const { status, text } = await caller.rest(row.method, path, request)
        const [, code] = /<S:code>(\w+)</.exec(text) ?? []
        outcomes.set(identity, status < 400 ? 'yes' : code ? `${status} ${code}` : String(status))
        if (status < 400 && !['GET', 'HEAD', 'PROPFIND'].includes(row.method)) aimed = undefined
      }
      expect(byTitle(identity => outcomes.get(identity))).toEqual(
        byTitle(identity => davCell(row, expectedInApps(row, identity))),
      )
    },
    120_000,
  )
})

describe('Permissions in the other routes of the apps', () => {
  it.each(appRows.map(row => [row.title, row] as const))(
    '%s',
    async (_title, row) => {
      const statuses = new Map<Identity, number>()
      let aimed: ReturnType<typeof row.request> | undefined
      for (const identity of identities) {
        const caller = await world.callerOf(identity, row.scope)
        aimed ??= row.request(await world.things())
        const { path, ...request } = await aimed
        const { status } = await caller.rest(row.method, path, request)
        statuses.set(identity, status < 400 ? 200 : status)
        if (status < 400) aimed = undefined
      }
      expect(byTitle(identity => statuses.get(identity))).toEqual(
        byTitle(identity => expectedStatus(row, identity)),
      )
    },
    120_000,
  )

  it('are tested for every method of every collection', async () => {
    const tested = new Set(appRows.map(({ title }) => title.replace(' (apps)', '')))
    const { owner } = await world.things()
    for (const collection of ['uploads', 'trashbin', 'versions']) {
      const path = `/remote.php/dav/${collection}/${owner.email}/x`
      const { headers } = await t.anonymous.rest('PATCH', path)
      const allowed = (headers.get('allow') ?? '').split(', ').filter(one => one !== 'HEAD')
      expect(allowed.filter(method => !tested.has(`${method} ${collection}`))).toEqual([])
      expect(allowed.length).toBeGreaterThan(2)
    }
  })

  it('let anonymous callers read nothing about a person', async () => {
    const open = [
      '/status.php',
      '/index.php/204',
      '/ocs/v2.php/cloud/capabilities',
      '/index.php/s/x',
    ]
    for (const path of open)
      expect([path, (await t.anonymous.rest('GET', path)).status]).not.toEqual([path, 401])
  })
})
