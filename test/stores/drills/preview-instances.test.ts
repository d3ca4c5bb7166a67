import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import sharp from 'sharp'
import type { Derive } from '../../../src/derive/derive.ts'
import { expectConsistent } from '../../support/consistency.ts'
import { pdf } from '../../support/documents.ts'
import { FFMPEG, testVideo } from '../../support/ffmpeg.ts'
import { newDatabase, type Person, startApp, type TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

let database: Awaited<ReturnType<typeof newDatabase>>
/** Two instances that share one database and one store. */
let instances: TestApp[]
let people: Person[]
/** The preview jobs of the processes of each instance. */
const begun = [0, 0]

const settings = {
  PREVIEWS: 'true',
  DERIVE_PROCESSES: '1',
  FFMPEG,
  WORKERS: '1',
  TRASH_DAYS: '0',
  VERSIONS_KEPT: '0',
  SECRET_KEY: randomBytes(32).toString('base64url'),
  AZURE_STORAGE_CONTAINER: `t${randomBytes(8).toString('hex')}`,
}

beforeAll(async () => {
  database = await newDatabase()
  const start = () => startApp({ ...settings, DATABASE_URL: database.url })
  instances = [await start(), await start()]
  people = await Promise.all(instances.map(t => t.signIn('alice')))
  for (const [i, { app }] of instances.entries()) {
    const run: Derive['run'] = app.derive.run
    const counted: Derive['run'] = job => {
      if (job.kind === 'picture') begun[i] = (begun[i] ?? 0) + 1
      return run(job)
    }
    Object.assign(app.derive, { run: counted })
  }
})
afterAll(async () => {
  for (const t of instances) await t.stop()
  await database.drop()
})

interface Shown {
  state: string
  url: string
}

/** The preview of a file, according to an instance. */
async function shownBy(i: number, path: string): Promise<Shown | null | undefined> {
  const query =
    'query ($path: String!) { me { drive { entry(path: $path) { ... on File { preview { state url } } } } } }'
  const { data } = await (people[i] as Person).graphql<{
    me: { drive: { entry: { preview: Shown | null } } }
  }>(query, {
    path,
  })
  return data?.me.drive.entry.preview
}

const photo = () =>
  sharp({
    create: {
      width: 2400,
      height: 1600,
      channels: 3,
      background: '#357',
      noise: { type: 'gaussian', mean: 120, sigma: 40 },
    },
  })
    .jpeg()
    .toBuffer()

it('Two instances make the preview of one content once, and both serve it', async () => {
  const kinds: [string, string, Buffer][] = [
    ['photo.jpg', 'image/jpeg', await photo()],
    ['report.pdf', 'application/pdf', pdf(['0 0 99 99 re f'])],
  ]
  for (const [name, type, bytes] of kinds) {
    begun.fill(0)
    const uploads = [0, 1, 2, 3].map(n =>
      (people[n % 2] as Person).upload(`${n}-${name}`, bytes, type),
    )
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const served = await until(async () => {
      for (const { app } of instances) app.worker.wake()
      const shown = await Promise.all([0, 1, 2, 3].map(n => shownBy((n + 1) % 2, `${n}-${name}`)))
      return shown.every(one => one?.state === 'MADE') && shown
    })
    expect((begun[0] ?? 0) + (begun[1] ?? 0)).toBe(1)
    const bodies = await Promise.all(
      (served as Shown[]).map(async ({ url }) => {
        const answer = await fetch(url, { headers: { cookie: people[0]?.cookie ?? '' } })
        return [answer.status, Buffer.from(await answer.arrayBuffer()).toString('hex', 0, 64)]
      }),
    )
    expect(new Set(bodies.map(String)).size).toBe(1)
    expect(bodies[0]?.[0]).toBe(200)
  }
  const [first] = instances
  if (!first) throw new Error('There is no instance.')
  await expectConsistent(first)
})

const withFfmpeg = FFMPEG === 'false' ? it.skip : it
withFfmpeg('They do so of a video', async () => {
  const [bytes, [alice]] = [await testVideo('webm', '640x480'), people]
  await alice?.upload('film.webm', bytes, 'video/webm')
  await until(async () => {
    for (const { app } of instances) app.worker.wake()
    return (await shownBy(1, 'film.webm'))?.state === 'MADE'
  })
  expect((await shownBy(0, 'film.webm'))?.state).toBe('MADE')
})

it('Previews and their sources are deleted with the last file', async () => {
  const [first] = instances
  if (!first) throw new Error('There is no instance.')
  const { db, store } = first.app
  for (const { name } of await db.rows<{ name: string }>(
    'SELECT name FROM entry WHERE blob_id IS NOT NULL',
  ))
    expect((await people[1]?.rest('DELETE', `/api/files/delete?file=${name}`))?.status).toBe(200)
  await until(
    async () => {
      for (const t of instances) await t.settle()
      let objects = 0
      for await (const _ of store.list()) objects += 1
      return objects === 0 && (await db.Preview.count()) === 0
    },
    60_000,
    200,
  )
  await expectConsistent(first)
})
