import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from './ask.ts'
import { type Dav, davPerson, hrefsIn } from './dav-client.ts'
import { type Person, startApp, type TestApp } from './harness.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp()
})
afterAll(() => t.stop())

const SHARE = 'mutation ($input: ShareFilesInput!) { shareFiles(input: $input) { shares { token } } }'
const shareOf = async (owner: Person, who: Person, path: string, more: object = {}): Promise<string> => {
  const { shareFiles } = await ask(owner, SHARE, { input: { files: [{ at: { path } }], email: who.email, ...more } })
  return shareFiles.shares[0].token
}
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const list = async (dav: Dav, path: string) => hrefsIn((await dav('PROPFIND', path, { headers: { depth: '1' } })).text)

describe('Two shares of one sharer', () => {
  it('are drives of their own: nothing is moved from one to the other, nor another file in its place', async () => {
    const owner = await t.signIn('two-shares')
    const { person, dav } = await davPerson(t)
    for (const path of ['one/f', 'two/f', 'two/inner/f']) await owner.upload(path, path)
    for (const path of ['one', 'two', 'two/inner']) await shareOf(owner, person, path, { mayEdit: true })
    expect(await list(dav, '/shared')).toEqual([
      ...['/dav/shared/', '/dav/shared/one/', '/dav/shared/two/', '/dav/shared/inner/'],
    ])
    const pairs = [
      ['one', 'two'],
      ['two', 'one'],
      ['inner', 'two'],
      ['two', 'inner'],
    ]
    for (const [from, to] of pairs)
      for (const name of ['g', 'f'])
        for (const method of ['MOVE', 'COPY']) {
          const headers = { destination: `/dav/shared/${to}/${name}` }
          const answer = statusOf(dav(method, `/shared/${from}/f`, { headers }))
          expect([method, from, to, name, await answer]).toEqual([method, from, to, name, 403])
        }
    for (const path of ['one/f', 'two/f', 'two/inner/f']) expect((await dav('GET', `/shared/${path}`)).text).toBe(path)
    expect(await list(dav, '/shared/two')).toEqual([
      ...['/dav/shared/two/', '/dav/shared/two/inner/', '/dav/shared/two/f'],
    ])
  })
})

describe('Shares of one name', () => {
  it('have names that stay when another one ends', async () => {
    const { person, dav } = await davPerson(t)
    const owners = await Promise.all(['first', 'second', 'third'].map(name => t.signIn(`names-${name}`)))
    const tokens: string[] = []
    for (const [i, owner] of owners.entries()) {
      await owner.upload('same.txt', `of ${i}`)
      tokens.push(await shareOf(owner, person, 'same.txt'))
    }
    const [, first, second = '', third = ''] = await list(dav, '/shared')
    expect(first).toBe('/dav/shared/same.txt')
    for (const one of [second, third]) expect(decodeURI(one)).toMatch(/^\/dav\/shared\/same \([0-9a-f]{8}\)\.txt$/)
    const read = async (href = '') => (await dav('GET', href.slice('/dav'.length))).text
    expect([await read(first), await read(second), await read(third)]).toEqual(['of 0', 'of 1', 'of 2'])
    expect((await owners[0]?.rest('POST', `/api/share/revoke/${tokens[0]}`))?.status).toBe(200)
    expect(await list(dav, '/shared')).toEqual(['/dav/shared/', '/dav/shared/same.txt', third])
    expect([await read(first), await read(second), await read(third)]).toEqual(['of 1', 'of 1', 'of 2'])
  })
})
