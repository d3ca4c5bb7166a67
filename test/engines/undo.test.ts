import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { ask } from '../support/ask.ts'
import { driveOf, found, join, put, ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

const MINUTE = 60_000
const realNow = Date.now
let skew = 0
let t: TestApp
let n = 0

beforeAll(async () => {
  Date.now = () => realNow() + skew
  t = await startApp(UNHURRIED)
  await t.limit(ROOMY)
})
afterEach(() => t.limit({ maxPublicLinks: null }))
afterAll(async () => {
  Date.now = realNow
  await t.stop()
})

const someone = () => t.signIn(`undo-${++n}`)
const works = async (token: string) =>
  (await t.anonymous.rest('GET', `/api/share/info/${token}`)).status === 200
const share = async (person: Person, objects: string[], terms: object = {}): Promise<string> => {
  const json = objects.length > 1 ? { objects, ...terms } : { object: objects[0], ...terms }
  const path = objects.length > 1 ? '/api/entries/quick_share' : '/api/files/quick_share'
  const { response, text } = await person.rest('POST', path, { json })
  if (!response.sharing_token) throw new Error(text)
  return response.sharing_token
}
const revoke = (person: Person, token: string) => person.rest('POST', `/api/share/revoke/${token}`)

interface Named {
  path?: string
  id?: string
  drive?: string
}
/** Deletes an entry. Returns the id of its trash item. */
async function remove(person: Person, { path, id, drive }: Named): Promise<string> {
  const entry = id ? { id } : { at: { path, ...(drive ? { drive } : {}) } }
  const { deleteEntries } = await ask(
    person,
    `mutation ($input: DeleteEntriesInput!) {
       deleteEntries(input: $input) { trashItems { id } } }`,
    { input: { entries: [entry], recursive: true } },
  )
  return deleteEntries.trashItems[0].id
}
const restoreBy = (person: Person, onConflict: string, items: string[]) =>
  ask(
    person,
    `mutation ($input: RestoreFromTrashInput!) {
       restoreFromTrash(input: $input) { entries { id path } } }`,
    { input: { items, onConflict } },
  )
const restore = (person: Person, ...items: string[]) => restoreBy(person, 'KEEP_BOTH', items)
/** Creates a link to `a.txt` in a drive. Returns its token. */
async function linkIn(person: Person, drive: string): Promise<string> {
  const { createLink } = await ask(
    person,
    'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { token } } }',
    { input: { entries: { at: { path: 'a.txt', drive } } } },
  )
  return createLink.share.token
}
const rowsOf = (person: Person) =>
  t.app.db.rows('SELECT * FROM share WHERE user_id = ? ORDER BY id', [person.userId])
const trashOf = async (person: Person) => (await person.rest('GET', '/api/trash')).response.items

describe('A deletion undone within ten minutes', () => {
  it('brings a link back with its terms, password and downloads', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    const terms = { password: 'secret word', max_downloads: 5, duration: '3d', label: 'For you' }
    const token = await share(alice, ['a.txt'], terms)
    const before = await rowsOf(alice)
    const item = await remove(alice, { path: 'a.txt' })
    expect(await works(token)).toBe(false)
    expect(await rowsOf(alice)).toEqual([])
    skew += 9 * MINUTE
    expect(await trashOf(alice)).toMatchObject([{ ended_shares: 1 }])
    await restore(alice, item)
    expect(await rowsOf(alice)).toEqual(before)
    expect(await works(token)).toBe(true)
  })

  it("brings a person's grant back with their favourite", async () => {
    const [alice, bob] = [await someone(), await someone()]
    await alice.upload('a.txt', 'text')
    const shared = await alice.rest('POST', '/api/files/share', {
      json: { objects: ['a.txt'], email: bob.email, may_edit: true },
    })
    expect(shared.status).toBe(200)
    const [row] = await t.app.db.rows<{ id: string }>('SELECT id FROM share WHERE recipient = ?', [
      bob.email,
    ])
    await t.app.db.run(
      `INSERT INTO favourite (id, user_id, entry_id, share_id, position, created_at)
       VALUES (?, ?, NULL, ?, 0, 1)`,
      [crypto.randomUUID(), bob.userId, row?.id ?? ''],
    )
    const favourites = () =>
      t.app.db.rows('SELECT * FROM favourite WHERE user_id = ?', [bob.userId])
    const before = await favourites()
    const item = await remove(alice, { path: 'a.txt' })
    expect(await favourites()).toEqual([])
    await restore(alice, item)
    expect(await favourites()).toEqual(before)
    expect(
      await t.app.db.rows('SELECT may_edit AS may FROM share WHERE recipient = ?', [bob.email]),
    ).toEqual([{ may: 1 }])
  })

  it('never exceeds the limit on links', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    await alice.upload('b.txt', 'text')
    await t.limit({ maxPublicLinks: 2 })
    const tokens = [await share(alice, ['a.txt']), await share(alice, ['a.txt'])]
    const item = await remove(alice, { path: 'a.txt' })
    const other = await share(alice, ['b.txt'])
    await restore(alice, item)
    expect(await Promise.all([...tokens, other].map(works))).toEqual([true, false, true])
    const more = await alice.rest('POST', '/api/files/quick_share', { json: { object: 'b.txt' } })
    expect(more.response.code).toBe('QUOTA_EXCEEDED')
  })

  it('ends the links of a restored file that another item of the same restore replaces', async () => {
    const alice = await someone()
    await t.limit({ maxPublicLinks: 1 })
    const tokens: string[] = []
    const items: string[] = []
    for (const text of ['one', 'two']) {
      await alice.upload('d/a.txt', text)
      tokens.push(await share(alice, ['d/a.txt']))
      items.push(await remove(alice, { path: items.length === 0 ? 'd/a.txt' : 'd' }))
    }
    await restoreBy(alice, 'REPLACE', items)
    expect(await Promise.all(tokens.map(works))).toEqual([false, true])
    const [again] = await trashOf(alice)
    expect(again).toMatchObject({ name: 'd', ended_shares: 1 })
    await t.limit({ maxPublicLinks: 2 })
    await restore(alice, again.id)
    expect(await Promise.all(tokens.map(works))).toEqual([true, true])
    await expectConsistent(t)
  })

  it('does not bring back a link whose sharer left the workspace and rejoined', async () => {
    const [boss, editor] = [await someone(), await someone()]
    const workspace = await found(boss)
    const drive = await driveOf(boss, workspace)
    await join(t, workspace, editor, 'editor')
    await put(boss, workspace, 'a.txt', 'text')
    const token = await linkIn(editor, drive)
    const first = await remove(boss, { path: 'a.txt', drive })
    await restore(boss, first)
    expect(await works(token)).toBe(true)
    const second = await remove(boss, { path: 'a.txt', drive })
    const who = { workspace_id: workspace, user_id: editor.userId }
    const query = new URLSearchParams(who)
    const left = await boss.rest('DELETE', `/api/workspaces/members/remove?${query}`)
    expect(left.status).toBe(200)
    await join(t, workspace, editor, 'editor')
    await restore(boss, second)
    expect(await works(token)).toBe(false)
  })

  it('brings back the link of a suspended person, which works once the account is restored', async () => {
    const [boss, editor] = [await someone(), await someone()]
    const workspace = await found(boss)
    const drive = await driveOf(boss, workspace)
    await join(t, workspace, editor, 'editor')
    await put(boss, workspace, 'a.txt', 'text')
    const token = await linkIn(editor, drive)
    const { operators } = t.app.services
    await operators.suspend(editor.userId)
    await restore(boss, await remove(boss, { path: 'a.txt', drive }))
    expect(await works(token)).toBe(false)
    await operators.restore(editor.userId)
    expect(await works(token)).toBe(true)
  })

  it('brings a link back although a used-up link comes back, too', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    await t.limit({ maxPublicLinks: 1 })
    const used = await share(alice, ['a.txt'], { max_downloads: 1 })
    expect((await t.anonymous.rest('GET', `/api/d/${used}`)).status).toBeLessThan(400)
    const live = await share(alice, ['a.txt'])
    await restore(alice, await remove(alice, { path: 'a.txt' }))
    expect(await works(live)).toBe(true)
    expect(await rowsOf(alice)).toHaveLength(2)
  })

  it('brings a link back after an upgrade that removed a column and added another', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    const token = await share(alice, ['a.txt'])
    const item = await remove(alice, { path: 'a.txt' })
    const [row] = await t.app.db.rows<{ id: string; terms: string }>(
      'SELECT id, terms FROM ended_share WHERE user_id = ?',
      [alice.userId],
    )
    const { title: _, ...terms } = JSON.parse(row?.terms ?? '')
    await t.app.db.run('UPDATE ended_share SET terms = ? WHERE id = ?', [
      JSON.stringify({ ...terms, former: 'column' }),
      row?.id ?? '',
    ])
    await restore(alice, item)
    expect(await works(token)).toBe(true)
  })

  it('returns everything or nothing if the restore fails in the middle', async () => {
    const alice = await someone()
    await alice.upload('d/a.txt', 'text')
    await alice.upload('b.txt', 'text')
    const tokens = [await share(alice, ['d/a.txt']), await share(alice, ['d', 'b.txt'])]
    const item = await remove(alice, { path: 'd' })
    const fails = {
      sqlite: "BEGIN SELECT RAISE(ABORT, 'killed'); END",
      mysql: "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'killed'",
    }[t.app.db.dialect]
    await t.app.db.run(
      `CREATE TRIGGER undo_fails BEFORE INSERT ON share_entry FOR EACH ROW ${fails}`,
    )
    await expect(restore(alice, item)).rejects.toThrow()
    await t.app.db.run('DROP TRIGGER undo_fails')
    expect(await Promise.all(tokens.map(works))).toEqual([false, true])
    expect(await trashOf(alice)).toMatchObject([{ id: item, ended_shares: 2 }])
    await restore(alice, item)
    expect(await Promise.all(tokens.map(works))).toEqual([true, true])
    expect(await rowsOf(alice)).toMatchObject([{ entry_count: null }, { entry_count: 2 }])
  })
})

describe('A revocation at the moment of a restore', () => {
  let shared: TestApp
  beforeAll(async () => {
    shared = t
    // These tests interrupt the statements of the process that handles the request.
    t = await startApp({ ...UNHURRIED, WORKERS: '1' })
  })
  afterAll(async () => {
    await t.stop()
    t = shared
  })

  it('does not bring back a link that was revoked while the restore ran', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    const token = await share(alice, ['a.txt'])
    const item = await remove(alice, { path: 'a.txt' })
    const elsewhere = await t.signIn(alice.email)
    const { db } = t.app
    const { row } = db
    // The restore runs after the revocation has found no live share.
    db.row = async (sql: string, ...rest: never[]) => {
      if (sql.includes('FROM ended_share')) {
        db.row = row
        await restore(elsewhere, item)
      }
      return row.call(db, sql, ...rest) as never
    }
    await revoke(alice, token)
    expect(await works(token)).toBe(false)
    await restore(alice, await remove(alice, { path: 'a.txt' }))
    expect(await works(token)).toBe(false)
  })

  it('does not bring back a link that was revoked between its deletion and the restore', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    const token = await share(alice, ['a.txt'])
    const elsewhere = await t.signIn(alice.email)
    const { db } = t.app
    const { row, changed } = db
    let item = ''
    let restoring: Promise<unknown> = Promise.resolve()
    // The deletion commits after the revocation has found the live share, and the restore begins
    // when the revocation looks for the row again.
    db.row = async (sql: string, ...rest: never[]) => {
      const found = await row.call(db, sql, ...rest)
      if (sql.includes('FROM share s')) {
        db.row = row
        item = await remove(elsewhere, { path: 'a.txt' })
      }
      return found as never
    }
    db.changed = async (sql: string, ...rest: never[]) => {
      const done = await changed.call(db, sql, ...rest)
      if (/^DELETE FROM share\s/.test(sql)) {
        db.changed = changed
        restoring = restore(elsewhere, item)
        await Promise.race([restoring, new Promise(done => setTimeout(done, 500))])
      }
      return done
    }
    await revoke(alice, token)
    expect(item).not.toBe('')
    await restoring
    expect(await works(token)).toBe(false)
  })
})

describe('The end of all access of a person', () => {
  let shared: TestApp
  beforeAll(async () => {
    shared = t
    t = await startApp({ ...UNHURRIED, WORKERS: '1' })
  })
  afterAll(async () => {
    await t.stop()
    t = shared
  })

  it.each([
    ['deleted', false],
    ['deleted and restored', true],
  ])('also ends a share whose entry is %s at that moment', async (_how, isRestored) => {
    const [alice, bob] = [await someone(), await someone()]
    const elsewhere = await t.signIn(alice.email)
    await alice.upload('a.txt', 'text')
    await alice.rest('POST', '/api/files/share', { json: { objects: ['a.txt'], email: bob.email } })
    const { db } = t.app
    const { rows } = db
    let removing = Promise.resolve('')
    // This runs after the shares were found, and before they end.
    const meanwhile = async () => {
      removing = remove(elsewhere, { path: 'a.txt' })
      const item = await removing
      if (isRestored) await restore(elsewhere, item)
    }
    let running: Promise<void> | undefined
    db.rows = async (sql: string, ...rest: never[]) => {
      const found = await rows.call(db, sql, ...rest)
      if (/FROM share\s+WHERE user_id/.test(sql)) {
        db.rows = rows
        running = meanwhile()
        await Promise.race([running, new Promise(done => setTimeout(done, 500))])
      }
      return found as never
    }
    await ask(
      alice,
      'mutation ($input: EndAccessInput!) { endAccess(input: $input) { revokedIds } }',
      { input: { email: bob.email } },
    )
    expect(running).toBeDefined()
    await running
    if (!isRestored) await restore(alice, await removing)
    expect(await rowsOf(alice)).toEqual([])
  })
})

describe('A deletion undone later', () => {
  it('restores the file without its links, as the trash has said', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    const token = await share(alice, ['a.txt'], { duration: 'never' })
    const item = await remove(alice, { path: 'a.txt' })
    const [{ deleted_at: deleted, shares_return_until: until }] = await trashOf(alice)
    expect(Date.parse(until) - Date.parse(deleted)).toBe(10 * MINUTE)
    skew += 10 * MINUTE
    await restore(alice, item)
    expect(await works(token)).toBe(false)
  })

  it('leaves no row of the ended links after the sweep', async () => {
    const alice = await someone()
    await alice.upload('a.txt', 'text')
    await share(alice, ['a.txt'], { duration: 'never' })
    await remove(alice, { path: 'a.txt' })
    skew += 11 * MINUTE
    await t.settle()
    expect(await t.app.db.rows('SELECT id FROM ended_share')).toEqual([])
    expect(await t.app.db.rows('SELECT share_id FROM ended_share_entry')).toEqual([])
    expect(await trashOf(alice)).toMatchObject([{ ended_shares: 1 }])
  })
})

/** A sequence of numbers below 1 that is the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface File {
  id: string
  folder: string | null
}
interface Link {
  token: string
  /** The entries that a visitor sees now. */
  shown: Set<string>
  /** When, and with which deleted entry, others left. */
  left: Map<string, { top: string; at: number }>
  expiresAt: number
  isRevoked: boolean
}

describe.each([1, 2, 3, 4])('Random deletions, restores, revocations and expiries (%i)', seed => {
  it('leave no link that works but should have ended, and end none that should work', async () => {
    const random = randomOf(seed)
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
    const alice = await someone()
    const idOf = async (path: string): Promise<string> =>
      (
        await ask(alice, 'query ($path: String!) { me { drive { entry(path: $path) { id } } } }', {
          path,
        })
      ).me.drive.entry.id
    const files: File[] = []
    const folders: string[] = []
    for (const folder of ['d', 'e']) {
      for (const name of ['1', '2']) {
        await alice.upload(`${folder}/${name}.txt`, name)
        files.push({ id: await idOf(`${folder}/${name}.txt`), folder: await idOf(folder) })
      }
      folders.push(await idOf(folder))
    }
    await alice.upload('top.txt', 'top')
    files.push({ id: await idOf('top.txt'), folder: null })
    const links: Link[] = []
    const items = new Map<string, string>()
    const isThere = (id: string): boolean => {
      const folder = files.find(file => file.id === id)?.folder
      return !items.has(id) && !(folder && items.has(folder))
    }
    const pathOf = async (id: string): Promise<string> =>
      (await ask(alice, 'query ($id: ID!) { node(id: $id) { ... on Entry { path } } }', { id }))
        .node.path
    const isOver = (link: Link) => link.isRevoked || link.expiresAt <= Date.now()
    const all = () => [...files.map(({ id }) => id), ...folders]
    const steps: Record<string, () => Promise<void>> = {
      async share() {
        const there = all().filter(isThere)
        if (there.length === 0) return
        const first = pick(there)
        // A folder and its contents would be one entry.
        const apart = there.filter(id => {
          const folder = files.find(file => file.id === id)?.folder
          return id !== first && folder === null
        })
        const isFolder = folders.includes(first)
        const chosen = apart.length > 0 && random() < 0.5 ? [first, pick(apart)] : [first]
        if (isFolder && chosen.length === 1) return
        const isShort = random() < 0.4
        const paths = await Promise.all(chosen.map(pathOf))
        const at = Date.now()
        const token = await share(alice, paths, { duration: isShort ? '7m' : '30d' })
        links.push({
          token,
          shown: new Set(chosen),
          left: new Map(),
          expiresAt: at + (isShort ? 7 : 30 * 24 * 60) * MINUTE,
          isRevoked: false,
        })
      },
      async remove() {
        const there = all().filter(isThere)
        if (there.length === 0) return
        const top = pick(there)
        const gone = [top, ...files.filter(({ folder }) => folder === top).map(({ id }) => id)]
        for (const link of links)
          for (const id of gone.filter(id => isThere(id) && link.shown.has(id))) {
            link.shown.delete(id)
            link.left.set(id, { top, at: Date.now() })
          }
        items.set(top, await remove(alice, { id: top }))
      },
      async restore() {
        if (items.size === 0) return
        const [top, item] = pick([...items])
        await restore(alice, item)
        const file = files.find(({ id }) => id === top)
        // Its folder is created again.
        if (file?.folder && items.has(file.folder)) file.folder = null
        items.delete(top)
        for (const link of links)
          for (const [id, { top: with_, at }] of link.left)
            if (with_ === top) {
              link.left.delete(id)
              if (Date.now() - at < 10 * MINUTE) link.shown.add(id)
            }
      },
      async revoke() {
        if (links.length === 0) return
        const link = pick(links)
        const { status } = await revoke(alice, link.token)
        expect([200, 404]).toContain(status)
        link.isRevoked = true
      },
      async wait() {
        skew += Math.floor(random() * 6) * MINUTE + 1000
        if (random() < 0.3) await t.settle()
      },
    }
    const often = ['share', 'share', 'remove', 'remove', 'restore', 'restore', 'wait', 'revoke']
    let hasWorked = 0
    for (let step = 0; step < 70; step++) {
      const name = pick(often)
      await steps[name]?.()
      for (const link of links) {
        const should = !isOver(link) && link.shown.size > 0
        if (should) hasWorked++
        const does = await works(link.token)
        if (does !== should) throw new Error(`step ${step}, ${name}: works ${does}, not ${should}`)
      }
    }
    expect(hasWorked).toBeGreaterThan(50)
    await expectConsistent(t)
  }, 120_000)
})
