import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { type Dav, davPerson } from '../support/dav-client.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t.stop())

/** The ETag of a folder, from PROPFIND. */
async function etagOf(dav: Dav, path: string): Promise<string> {
  const body = '<d:propfind xmlns:d="DAV:"><d:prop><d:getetag/></d:prop></d:propfind>'
  const { status, text } = await dav('PROPFIND', path, { headers: { depth: '0' }, body })
  const [, etag] = /<d:getetag>&quot;([^<]+)&quot;<\/d:getetag>/.exec(text) ?? []
  if (status !== 207 || etag === undefined) throw new Error(`${path}: ${status} ${text}`)
  return etag
}

const timesOf = (name: string, value: string) =>
  `<d:propertyupdate xmlns:d="DAV:" xmlns:X="urn:test"><d:set><d:prop><${name}>${value}</${name}></d:prop></d:set></d:propertyupdate>`

type Change = (dav: Dav, person: Person) => Promise<{ status: number } | undefined>
const to = (path: string) => ({ headers: { destination: `/dav/files${path}` } })

/** Changes of /a/b, below which are f (with a former version) and the folder c. */
const changes: Record<string, Change> = {
  'a new file': dav => dav('PUT', '/files/a/b/new', { body: 'x' }),
  'a new content of the same size': dav => dav('PUT', '/files/a/b/f', { body: '3' }),
  'a new folder': dav => dav('MKCOL', '/files/a/b/new'),
  'a new name': dav => dav('MOVE', '/files/a/b/f', to('/a/b/g')),
  'a move within it': dav => dav('MOVE', '/files/a/b/f', to('/a/b/c/f')),
  'a move into it': dav => dav('MOVE', '/files/beside/f', to('/a/b/moved')),
  'a move out of it': dav => dav('MOVE', '/files/a/b/f', to('/beside/moved')),
  'a copy into it': dav => dav('COPY', '/files/beside/f', to('/a/b/copied')),
  'a copy of a folder': dav => dav('COPY', '/files/beside', to('/a/b/copied')),
  'a deletion': dav => dav('DELETE', '/files/a/b/f'),
  'a deletion of a folder': dav => dav('DELETE', '/files/a/b/c'),
  'a modification time': dav =>
    dav('PROPPATCH', '/files/a/b/f', {
      body: timesOf('d:getlastmodified', 'Sat, 28 Nov 2020 10:00:00 GMT'),
    }),
  'a dead property of a file': dav =>
    dav('PROPPATCH', '/files/a/b/f', { body: timesOf('X:note', 'y') }),
  'a dead property of itself': dav =>
    dav('PROPPATCH', '/files/a/b', { body: timesOf('X:note', 'y') }),
  'a restored version': async (_dav, person) => {
    const { response } = await person.rest('GET', '/api/files/versions?path=a/b/f')
    const id = response.versions[0].id
    return person.rest('POST', `/api/files/versions/${id}/restore`)
  },
}

async function tree(name: string) {
  const { person, dav } = await davPerson(t, name)
  for (const path of ['/a', '/a/b', '/a/b/c', '/beside', '/elsewhere'])
    expect(await dav('MKCOL', `/files${path}`)).toMatchObject({ status: 201 })
  for (const [path, body] of [
    ['/a/b/f', '1'],
    ['/a/b/f', '2'],
    ['/a/b/c/deep', 'x'],
    ['/beside/f', 'b'],
    ['/elsewhere/f', 'e'],
  ] as const)
    await dav('PUT', `/files${path}`, { body })
  return { person, dav }
}

describe('The ETag of a folder', () => {
  it.each(Object.keys(changes))('changes up to the root with %s', async what => {
    const { person, dav } = await tree(`etag-${Object.keys(changes).indexOf(what)}`)
    const above = ['/files', '/files/a', '/files/a/b']
    const tags = () => Promise.all(above.map(path => etagOf(dav, path)))
    const [before, elsewhere] = [await tags(), await etagOf(dav, '/files/elsewhere')]
    expect((await changes[what]?.(dav, person))?.status).toBeLessThan(300)
    const after = await tags()
    for (const [i, path] of above.entries()) expect([path, after[i]]).not.toEqual([path, before[i]])
    expect(await etagOf(dav, '/files/elsewhere')).toBe(elsewhere)
  })

  it('changes in both folders of a move', async () => {
    const { dav } = await tree('etag-both')
    const before = [await etagOf(dav, '/files/a/b'), await etagOf(dav, '/files/beside')]
    await dav('MOVE', '/files/a/b/f', to('/beside/moved'))
    expect(await etagOf(dav, '/files/a/b')).not.toBe(before[0])
    expect(await etagOf(dav, '/files/beside')).not.toBe(before[1])
  })

  it('changes when a deleted entry is restored, and stays when the trash is emptied', async () => {
    const { person, dav } = await tree('etag-trash')
    await dav('DELETE', '/files/a/b/f')
    await dav('DELETE', '/files/a/b/c')
    const before = await etagOf(dav, '/files/a')
    const { response } = await person.rest('GET', '/api/trash')
    const [first, second] = response.items
    await person.rest('POST', '/api/trash/restore', { json: { items: [first.id] } })
    const restored = await etagOf(dav, '/files/a')
    expect(restored).not.toBe(before)
    await person.rest('DELETE', '/api/trash/items', { json: { items: [second.id] } })
    expect(await etagOf(dav, '/files/a')).toBe(restored)
  })

  it('stays the same while nothing changes, and is the condition of a deletion', async () => {
    const { dav } = await tree('etag-same')
    const etag = await etagOf(dav, '/files/a')
    await dav('GET', '/files/a/b/f')
    await dav('PROPFIND', '/files/a', { headers: { depth: '1' } })
    expect(await etagOf(dav, '/files/a')).toBe(etag)
    await dav('PUT', '/files/a/b/f', { body: 'changed' })
    const remove = (tag: string) =>
      dav('DELETE', '/files/a', { headers: { 'if-match': `"${tag}"` } })
    expect(await remove(etag)).toMatchObject({ status: 412 })
    expect(await remove(await etagOf(dav, '/files/a'))).toMatchObject({ status: 204 })
  })

  it('comes with a number and an id that the entry keeps for life', async () => {
    const { dav } = await tree('etag-number')
    const props = '<p:id/><p:fileid/><p:size/>'
    const numbersOf = async (path: string) => {
      const body = `<d:propfind xmlns:d="DAV:" xmlns:p="http://owncloud.org/ns"><d:prop>${props}</d:prop></d:propfind>`
      const { text } = await dav('PROPFIND', path, { headers: { depth: '0' }, body })
      const value = (name: string) => new RegExp(`<oc:${name}>([^<]+)<`).exec(text)?.[1]
      return { id: value('id'), number: value('fileid'), size: value('size') }
    }
    const put = await dav('PUT', '/files/a/b/f', { body: 'four' })
    const before = await numbersOf('/files/a/b/f')
    expect(before.number).toMatch(/^\d{16,19}$/)
    expect(before).toMatchObject({ id: put.headers.get('oc-fileid'), size: '4' })
    expect((await numbersOf('/files/a')).size).toBe('5')
    await dav('MOVE', '/files/a/b/f', to('/beside/renamed'))
    await dav('PUT', '/files/beside/renamed', { body: 'overwritten' })
    expect(await numbersOf('/files/beside/renamed')).toMatchObject({ number: before.number })
  })

  it('changes for the recipient and the owner of a shared folder', async () => {
    const { person, dav } = await tree('etag-owner')
    const { person: guest, dav: theirs } = await davPerson(t, 'etag-guest')
    await ask(
      person,
      'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }',
      { input: { entries: [{ at: { path: 'a/b' } }], email: guest.email, mayEdit: true } },
    )
    const tags = async () => [
      await etagOf(theirs, '/shared/b'),
      await etagOf(dav, '/files/a/b'),
      await etagOf(dav, '/files/a'),
      await etagOf(dav, '/files'),
    ]
    let before = await tags()
    for (const change of [
      () => theirs('PUT', '/shared/b/f', { body: '3' }),
      () => theirs('PROPPATCH', '/shared/b/f', { body: timesOf('X:note', 'y') }),
      () => dav('PUT', '/files/a/b/c/deep', { body: 'z' }),
    ]) {
      expect((await change()).status).toBeLessThan(300)
      const after = await tags()
      for (const [i, tag] of after.entries()) expect([i, tag]).not.toEqual([i, before[i]])
      before = after
    }
  })
})
