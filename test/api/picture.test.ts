import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { ask, codeOf } from '../support/ask.ts'
import { expel, found, join, privateKey, put, workspaceKey } from '../support/builders.ts'
import { findingsOf } from '../support/consistency.ts'
import { type Person, type RestAnswer, startApp, type TestApp } from '../support/harness.ts'
import { picture } from '../support/pictured.ts'
import { until } from '../support/until.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp({ PREVIEWS: 'true', DERIVE_PROCESSES: '1' })
})
afterAll(() => t.stop())

let serial = 0
const someone = () => t.signIn(`photographer${serial++}`)

/** A picture that was taken at this time, in the format of cameras: 2024:05:06 07:08:09. */
const taken = (DateTimeOriginal: string, zone: { OffsetTimeOriginal?: string } = {}) =>
  sharp({
    create: { width: 20, height: 20, channels: 3, background: { r: serial % 256, g: 40, b: 90 } },
  })
    .withExifMerge({
      IFD0: { ImageDescription: `${serial++}` },
      IFD2: { DateTimeOriginal, ...zone },
    })
    .jpeg()
    .toBuffer()

const PICTURES = `query ($first: Int, $after: String, $since: DateTime, $until: DateTime, $skip: Int) {
  me { drive { pictures(first: $first, after: $after, since: $since, until: $until, skip: $skip) {
    nodes { path } pageInfo { hasNextPage endCursor } } } } }`
const MONTHS = '{ me { drive { pictureMonths { month count } } } }'

interface Nodes {
  nodes: { path: string }[]
}
const pathsIn = ({ nodes }: Nodes): string[] => nodes.map(({ path }) => path)
const shown = async (person: Person, variables = {}): Promise<string[]> =>
  pathsIn((await ask(person, PICTURES, variables)).me.drive.pictures)
const monthsOf = async (person: Person): Promise<Record<string, number>> => {
  const months: { month: string; count: number }[] = (await ask(person, MONTHS)).me.drive
    .pictureMonths
  return Object.fromEntries(months.map(({ month, count }) => [month, count]))
}
async function expectNothingFound(): Promise<void> {
  await t.settle()
  expect(await findingsOf(t.app)).toEqual([])
}
const thisMonth = () => new Date().toISOString().slice(0, 7)

/** Waits until an uploaded picture is sorted by the time when it was taken. */
async function placed(uploading: Promise<RestAnswer>): Promise<void> {
  const { response } = await uploading
  const id: string = (response.file ?? response[0]).id
  await until(async () => {
    await t.settle()
    const sql =
      'SELECT id FROM entry WHERE id = ? AND pictured_at <> COALESCE(content_at, created_at)'
    return (await t.app.db.rows(sql, [id])).length === 1
  })
}

/**
 * Uploads pictures that were taken in the middle of months, such as 2024-05, and waits until they
 * are sorted.
 */
async function uploaded(person: Person, files: Record<string, string>): Promise<void> {
  for (const [path, month] of Object.entries(files))
    await placed(
      person.upload(path, await taken(`${month.replace('-', ':')}:15 12:00:00`), 'image/jpeg'),
    )
}

const idOf = async (person: Person, path: string): Promise<string> =>
  (
    await ask(person, 'query ($path: String!) { me { drive { entry(path: $path) { id } } } }', {
      path,
    })
  ).me.drive.entry.id
const remove = (person: Person, path: string) =>
  ask(
    person,
    'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { trashItems { id } } }',
    {
      input: { entries: [{ at: { path } }], recursive: true },
    },
  )

describe('The pictures of a drive', () => {
  it('are ordered by the time when they were taken or uploaded, from all folders, including videos', async () => {
    const person = await someone()
    await uploaded(person, {
      'a/old.jpg': '2019-03',
      'new.jpg': '2024-05',
      'a/b/middle.jpg': '2021-12',
    })
    await person.upload('film.mp4', 'a film', 'video/mp4')
    await person.upload('notes.txt', 'no picture', 'text/plain')
    await person.upload('plain.png', picture, 'image/png')
    expect(await shown(person)).toEqual([
      'plain.png',
      'film.mp4',
      'new.jpg',
      'a/b/middle.jpg',
      'a/old.jpg',
    ])
    expect(await monthsOf(person)).toEqual({
      [thisMonth()]: 2,
      '2024-05': 1,
      '2021-12': 1,
      '2019-03': 1,
    })
    await expectNothingFound()
  })

  it('belong to the month of the camera clock, in any time zone', async () => {
    const person = await someone()
    const far = { east: '+09:00', west: '-08:00' }
    for (const [name, OffsetTimeOriginal] of Object.entries(far))
      for (const at of ['2023:01:01 00:30:00', '2023:01:31 23:30:00'])
        await placed(
          person.upload(
            `${name} ${at.slice(8, 10)}.jpg`,
            await taken(at, { OffsetTimeOriginal }),
            'image/jpeg',
          ),
        )
    await placed(person.upload('no zone 15.jpg', await taken('2023:01:15 12:00:00'), 'image/jpeg'))
    expect(await monthsOf(person)).toEqual({ '2023-01': 5 })
    const days = (await shown(person)).map(path => path.slice(-6, -4))
    expect(days).toEqual(['31', '31', '15', '01', '01'])
    await expectNothingFound()
  })

  it('are paged from the start of a month, and from its middle', async () => {
    const person = await someone()
    const months = ['2020-01', '2020-02', '2020-02', '2020-02', '2020-03']
    await uploaded(person, Object.fromEntries(months.map((month, i) => [`${i}.jpg`, month])))
    const all = await shown(person)
    expect([all[0], all[4]]).toEqual(['4.jpg', '0.jpg'])
    const paged: string[] = []
    for (let after: string | null = null; ; ) {
      const page: Nodes & { pageInfo: { hasNextPage: boolean; endCursor: string } } = (
        await ask(person, PICTURES, { first: 2, after })
      ).me.drive.pictures
      paged.push(...pathsIn(page))
      if (!page.pageInfo.hasNextPage) break
      after = page.pageInfo.endCursor
    }
    expect(paged).toEqual(all)
    const february = { since: '2020-02-01T00:00:00Z', until: '2020-03-01T00:00:00Z' }
    expect(await shown(person, february)).toEqual(all.slice(1, 4))
    expect(await shown(person, { ...february, skip: 1, first: 1 })).toEqual([all[2]])
    expect(await shown(person, { ...february, skip: 3 })).toEqual([])
    expect(await codeOf(person, PICTURES, { skip: -1 })).toBe('INVALID_INPUT')
    expect(await codeOf(person, PICTURES, { skip: 100_001 })).toBe('INVALID_INPUT')
  })

  it('omit pictures in the trash, with or without their folder, and include them once restored', async () => {
    const person = await someone()
    await uploaded(person, {
      'kept.jpg': '2022-06',
      'gone/deep/1.jpg': '2022-06',
      'gone/2.jpg': '2022-07',
      '3.jpg': '2022-07',
    })
    const { trashItems } = (await remove(person, 'gone')).deleteEntries
    await remove(person, '3.jpg')
    expect(await shown(person)).toEqual(['kept.jpg'])
    // `skip` does not count pictures in the trash.
    expect(await shown(person, { skip: 1 })).toEqual([])
    expect(await monthsOf(person)).toEqual({ '2022-06': 1 })
    await ask(
      person,
      'mutation ($input: RestoreFromTrashInput!) { restoreFromTrash(input: $input) { entries { id } } }',
      {
        input: { items: trashItems.map(({ id }: { id: string }) => id) },
      },
    )
    expect((await shown(person)).sort()).toEqual(['gone/2.jpg', 'gone/deep/1.jpg', 'kept.jpg'])
    expect(await monthsOf(person)).toEqual({ '2022-06': 2, '2022-07': 1 })
    await remove(person, 'gone')
    await ask(person, 'mutation { emptyTrash(input: {}) { count } }')
    await expectNothingFound()
    expect(await monthsOf(person)).toEqual({ '2022-06': 1 })
  })

  it('skip many trashed folders in a row', async () => {
    const person = await someone()
    for (let i = 0; i < 12; i++) await person.upload(`album/${i}/x.png`, picture, 'image/png')
    await person.upload('first.png', picture, 'image/png')
    await t.app.db.run(
      "UPDATE entry SET pictured_at = pictured_at - 100000 WHERE name = 'first.png'",
    )
    await remove(person, 'album')
    expect(await shown(person, { first: 1 })).toEqual(['first.png'])
    await t.app.db.run(
      "UPDATE entry SET pictured_at = pictured_at + 100000 WHERE name = 'first.png'",
    )
  })

  it('follow moves, and copies keep the time of their originals', async () => {
    const person = await someone()
    await uploaded(person, { 'one.jpg': '2018-01' })
    await person.upload('now.png', picture, 'image/png')
    await ask(
      person,
      'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
      {
        input: { entries: [{ at: { path: 'one.jpg' } }], to: { at: { path: 'album' } } },
      },
    )
    expect(
      (
        await person.rest('POST', '/api/copies', {
          json: { entries: ['album', 'now.png'], folder: 'copies' },
        })
      ).status,
    ).toBe(200)
    expect(await shown(person)).toEqual([
      'copies/now.png',
      'now.png',
      expect.stringMatching(/one/),
      expect.stringMatching(/one/),
    ])
    expect(await monthsOf(person)).toEqual({ [thisMonth()]: 2, '2018-01': 2 })
    await expectNothingFound()
  })

  it('follow the content: a new version, a version that is not a picture, and the old version again', async () => {
    const person = await someone()
    const replace = async (bytes: Uint8Array | string, type: string) => {
      const form = new FormData()
      form.append('on_conflict', 'replace')
      form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), 'x.jpg')
      const answer = await person.rest('POST', '/api/files/upload', { form })
      if (answer.status !== 200) throw new Error(answer.text)
      return answer
    }
    await uploaded(person, { 'x.jpg': '2017-02' })
    await placed(replace(await taken('2016:04:05 12:00:00'), 'image/jpeg'))
    expect(await monthsOf(person)).toEqual({ '2016-04': 1 })
    await replace('no picture at all', 'application/pdf')
    expect(await monthsOf(person)).toEqual({})
    const id = await idOf(person, 'x.jpg')
    const VERSIONS =
      'query ($id: ID!) { node(id: $id) { ... on File { versions { nodes { id } } } } }'
    const versions: { id: string }[] = (await ask(person, VERSIONS, { id })).node.versions.nodes
    await ask(
      person,
      'mutation ($input: RestoreVersionInput!) { restoreVersion(input: $input) { removedId } }',
      {
        input: { version: versions.at(-1)?.id },
      },
    )
    expect(await monthsOf(person)).toEqual({ '2017-02': 1 })
    await expectNothingFound()
  })

  it('take their time from a preview that another user’s upload has caused', async () => {
    const [alice, bob] = [await someone(), await someone()]
    const bytes = await taken('2015:01:15 12:00:00')
    await placed(alice.upload('a.jpg', bytes, 'image/jpeg'))
    await bob.upload('b.jpg', bytes, 'image/jpeg')
    await until(async () => {
      await t.settle()
      return (await monthsOf(bob))['2015-01'] === 1
    })
    await expectNothingFound()
  })
})

describe('The pictures of a workspace', () => {
  const OF = `query ($id: ID!) { workspace(id: $id) { drive { pictures { nodes { id } } pictureMonths { count } } } }`

  it('are visible to those who may list its files, until their access ends', async () => {
    const [alice, bob] = [await someone(), await someone()]
    const id = await found(alice)
    await join(t, id, bob, 'viewer')
    await put(alice, id, 'x.png', picture, 'image/png')
    const codeFor = (person: Person) => codeOf(person, OF, { id })
    expect((await ask(bob, OF, { id })).workspace.drive).toEqual({
      pictures: { nodes: [{ id: expect.any(String) }] },
      pictureMonths: [{ count: 1 }],
    })
    expect(await codeFor((await workspaceKey(t, alice, id)).caller)).toBeUndefined()
    const narrow = await workspaceKey(t, alice, id, ['workspaces:members:read'])
    expect(await codeFor(narrow.caller)).toBe('INSUFFICIENT_SCOPE')
    await expel(t, id, bob)
    expect(await codeFor(bob)).toBe('FORBIDDEN')
    expect(await codeFor(t.anonymous)).toBe('UNAUTHENTICATED')
    expect(await codeOf((await privateKey(t, alice, ['private_files:write'])).caller, MONTHS)).toBe(
      'INSUFFICIENT_SCOPE',
    )
  })
})

it('Doctor finds files that are missing or misplaced among the pictures, and repairs them', async () => {
  const person = await someone()
  await uploaded(person, { 'a.jpg': '2014-05', 'b.jpg': '2013-05' })
  await person.upload('c.txt', 'text', 'text/plain')
  const ids = await Promise.all(['a.jpg', 'b.jpg', 'c.txt'].map(path => idOf(person, path)))
  const set = (value: string, id: string | undefined) =>
    t.app.db.run(`UPDATE entry SET pictured_at = ${value} WHERE id = ?`, [id ?? ''])
  await set('created_at', ids[0])
  await set('NULL', ids[1])
  await set('created_at', ids[2])
  const problems = (await findingsOf(t.app, { repair: true })).map(({ kind, id, repaired }) => [
    kind,
    id,
    repaired,
  ])
  expect(problems.sort()).toEqual(ids.map(id => ['picture-misplaced', id, true]).sort())
  expect(await monthsOf(person)).toEqual({ '2014-05': 1, '2013-05': 1 })
  await expectNothingFound()
})
