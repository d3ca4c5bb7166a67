import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { UNHURRIED } from '../support/builders.ts'
import { startApp, type TestApp } from '../support/harness.ts'

let t: TestApp
beforeAll(async () => {
  t = await startApp(UNHURRIED)
})
afterAll(() => t.stop())

const VIEW = 'filesView { layout tileSize sort direction }'
const SET = `mutation ($input: SetFilesViewInput!) { setFilesView(input: $input) { viewer { ${VIEW} } } }`

describe('The view of files', () => {
  it('is a list by name until the person chooses, and is then remembered for them alone', async () => {
    const alice = await t.signIn('alice')
    const bob = await t.signIn('bob')
    const first = { layout: 'LIST', tileSize: 'MEDIUM', sort: 'NAME', direction: 'ASC' }
    expect((await ask(alice, `{ me { ${VIEW} } }`)).me.filesView).toEqual(first)
    const chosen = { layout: 'TILES', tileSize: 'LARGE', sort: 'UPDATED_AT', direction: 'DESC' }
    const { setFilesView } = await ask(alice, SET, { input: chosen })
    expect(setFilesView.viewer.filesView).toEqual(chosen)
    expect((await ask(alice, `{ me { ${VIEW} } }`)).me.filesView).toEqual(chosen)
    expect((await ask(bob, `{ me { ${VIEW} } }`)).me.filesView).toEqual(first)
  })

  it('ignores stored values that this version does not know', async () => {
    const carol = await t.signIn('carol')
    const stored = '{"layout":"spiral","tileSize":"large"}'
    await t.app.db.run("UPDATE user SET files_view = ? WHERE email LIKE 'carol%'", [stored])
    expect((await ask(carol, `{ me { ${VIEW} } }`)).me.filesView).toEqual({
      layout: 'LIST',
      tileSize: 'LARGE',
      sort: 'NAME',
      direction: 'ASC',
    })
  })
})
