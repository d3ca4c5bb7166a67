import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { queryOf } from '../../../src/cli/actions/search.ts'
import { found, privateKey, put } from '../../support/builders.ts'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'

let t: TestApp
let alice: Person
let bob: Person
let hers: Shell
let his: Shell

const secretOf = ({ cookie }: Person) => cookie.replace('session_id=', '')
const pathsOf = ({ results }: { results: { path: string }[] }) => results.map(({ path }) => path)

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  const garden = await found(alice)
  hers = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(alice) })
  his = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: secretOf(bob) })
  await alice.upload('tax papers/2026/Invoice March.pdf', 'x1', 'application/pdf')
  await alice.upload('tax papers/Invoice.txt', 'x2')
  await put(alice, garden, 'plans/invoice seeds.txt', 'x3')
})
afterAll(async () => {
  hers?.close()
  his?.close()
  await t.stop()
})

describe('satchel search', () => {
  it('finds files in all drives, and prints paths that other commands accept', async () => {
    const found = await hers.json('search', 'invoice')
    expect(pathsOf(found)).toEqual([
      'garden:/plans/invoice seeds.txt',
      '/tax papers/Invoice.txt',
      '/tax papers/2026/Invoice March.pdf',
    ])
    expect(found).toMatchObject({ query: 'invoice', has_more: false, is_complete: true, hints: [] })
    expect(found.results[1]).toMatchObject({
      name: 'Invoice.txt',
      kind: 'file',
      size: 2,
      matched_in: ['name'],
      snippet: null,
      shared_by: null,
    })
    for (const path of pathsOf(found)) expect((await hers.json('ls', path)).files).toHaveLength(1)
    const { code, out } = await hers.satchel(['search', 'invoice', 'type:pdf'])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^2 B {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}\/tax papers\/2026\/Invoice March\.pdf\n$/,
      ),
    ])
    expect(await hers.satchel(['search', 'nothing-like-this'])).toEqual({
      code: 0,
      out: '',
      err: '',
    })
  })

  it('accepts the query as one argument or several, without the quotation marks of a shell', async () => {
    expect(pathsOf(await hers.json('search', 'in:tax papers', 'invoice', 'type:pdf'))).toHaveLength(
      1,
    )
    expect(pathsOf(await hers.json('search', 'in:"tax papers" invoice type:pdf'))).toHaveLength(1)
    expect(pathsOf(await hers.json('search', '--', 'invoice', '-march'))).toHaveLength(2)
    expect(pathsOf(await hers.json('search', 'drive:garden', 'invoice'))).toHaveLength(1)
    expect(queryOf(['final report', '-in ter', 'by:anna b'])).toBe(
      '"final report" -"in ter" by:"anna b"',
    )
    expect(queryOf(['a b type:pdf'])).toBe('a b type:pdf')
  })

  it('stops at a limit across pages, and sorts', async () => {
    for (let n = 0; n < 120; n++) await alice.upload(`birds/heron ${n}.txt`, String(n))
    const some = await hers.json('search', 'heron', '--limit', '110')
    expect([some.results.length, new Set(pathsOf(some)).size, some.has_more]).toEqual([
      110,
      110,
      true,
    ])
    expect((await hers.json('search', 'heron', '--limit', '500')).results).toHaveLength(120)
    expect(pathsOf(await hers.json('search', 'heron', '--order', 'name', '-n', '2'))).toEqual([
      '/birds/heron 0.txt',
      '/birds/heron 1.txt',
    ])
    expect(await hers.refused('search', 'heron', '--order', 'colour')).toMatchObject({ code: 2 })
    expect(await hers.refused('search', 'x'.repeat(501))).toMatchObject({
      code: 2,
      error: { code: 'INVALID_INPUT' },
    })
  })

  it('shows the matching text, without control sequences', async () => {
    const md5 = createHash('md5').update('x2').digest('hex')
    const content = 'Paid by \u001b[31m cheque <b>twice</b>'
    expect((await alice.rest('PUT', `/api/files/${md5}/note`, { json: { content } })).status).toBe(
      200,
    )
    const { out } = await hers.satchel(['search', 'cheque'])
    expect(out).toContain('cheque <b>twice</b>')
    expect(out).not.toContain('\u001b')
    const { results } = await hers.json('search', 'cheque')
    const { text, ranges } = results[0].snippet
    expect(text.slice(ranges[0].start, ranges[0].end)).toBe('cheque')
  })

  it('shows how it corrected the query', async () => {
    expect((await hers.satchel(['search', 'colour:red'])).err).toContain(
      'There is no filter "colour:"',
    )
    expect((await hers.json('search', 'colour:red')).hints).toHaveLength(1)
  })

  it('shows files shared by others by their link, while the share lasts', async () => {
    const { shares } = await hers.json('share', 'tax papers', '--with', bob.email)
    const link = shares[0].sharing_link
    const found = await his.json('search', 'invoice')
    expect(pathsOf(found)).toEqual([`${link}/Invoice.txt`, `${link}/2026/Invoice March.pdf`])
    expect(found.results[0]).toMatchObject({ id: null, shared_by: alice.email })
    expect(pathsOf(await his.json('search', 'type:folder'))).toEqual([`${link}/2026`, link])
    expect((await his.json('ls', `${link}/2026`)).files).toHaveLength(1)
    await hers.json('revoke', shares[0].sharing_token)
    expect((await his.json('search', 'invoice')).results).toEqual([])
  })

  it('finds only files that the key may read', async () => {
    const key = await privateKey(t, alice)
    const keyed = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: key.key })
    expect(pathsOf(await keyed.json('search', 'invoice'))).toEqual([
      '/tax papers/Invoice.txt',
      '/tax papers/2026/Invoice March.pdf',
    ])
    keyed.close()
  })

  it('completes filters and their values', async () => {
    const complete = async (word: string) =>
      (await hers.satchel(['complete', '--shell', 'zsh', '--', 'search', word])).out
        .split('\n')
        .map(l => l.split('\t')[0])
    expect(await complete('ty')).toEqual(['type:', ''])
    expect(await complete('type:pdf,im')).toEqual(['type:pdf,image', ''])
    expect(await complete('drive:')).toEqual(['drive:me', 'drive:garden', ''])
    expect(await complete('hello')).toEqual([''])
  })
})
