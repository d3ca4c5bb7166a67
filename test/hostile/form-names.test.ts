import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { nameOfPart } from '../../src/values/file-name.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { field, form, type Part, sendForm } from '../support/wire.ts'

let t: TestApp
let alice: Person

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
})

afterAll(() => t.stop())

const query =
  'mutation U($file: Upload!) { uploadFile(input: { file: $file, folder: { at: { path: "graph" } }, onConflict: REPLACE }) { file { path } } }'

/** A part with raw text for the parameters after its name. */
const part = (name: string, parameters: string): Part => ({
  headers: [`Content-Disposition: form-data; name="${name}"; ${parameters}`],
  body: 'x',
})

/** The stored path, or the code of the refusal, by REST and by GraphQL. */
async function outcomes(parameters: string): Promise<[string, string]> {
  const rest = await sendForm(
    t,
    alice,
    form([field('folder', 'rest'), field('on_conflict', 'replace'), part('file', parameters)]),
  )
  const operations = field('operations', JSON.stringify({ query, variables: { file: null } }))
  const map = field('map', JSON.stringify({ 0: ['variables.file'] }))
  const graph = await sendForm(t, alice, form([operations, map, part('0', parameters)]), {
    path: '/graphql',
  })
  const { data, errors } = JSON.parse(graph?.text ?? '')
  return [
    rest?.response.code ?? rest?.response.file.path,
    errors?.[0].extensions.code ?? data.uploadFile.file.path,
  ]
}

describe('The file name of a form', () => {
  it.each([
    ['of a plain name', 'filename="plain.txt"', 'plain.txt'],
    ['of a path', 'filename="a/b/c.txt"', 'c.txt'],
    ['of a path upwards', 'filename="../rest/up.txt"', 'up.txt'],
    ['of a path on Windows', 'filename="C:\\Users\\x\\a.txt"', 'a.txt'],
    ['of a path on Windows with escapes', 'filename="C:\\\\Users\\\\x\\\\e.txt"', 'e.txt'],
    ['of a network share', 'filename="\\\\\\\\server\\\\share\\\\s.txt"', 's.txt'],
    ['with a quote of a browser', 'filename="say %22hi%22.txt"', 'say "hi".txt'],
    ['with an escaped quote', 'filename="say \\"ho\\".txt"', 'say "ho".txt'],
    ['with another percent sign', 'filename="100%25 of it.txt"', '100%25 of it.txt'],
    ['with letters in UTF-8', 'filename="größe €.txt"', 'größe €.txt'],
    ['with RFC 5987', 'filename="x.txt"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe.txt', 'größe.txt'],
    ['with a Base64 word', 'filename="=?UTF-8?B?Z3LDtsOfZSDigqwudHh0?="', 'größe €.txt'],
    // The word contains a slash, which is not a separator here.
    ['with a slash in a word', 'filename="=?utf-8?b?w7/Dvy50eHQ=?="', 'ÿÿ.txt'],
    ['with a Q word', 'filename="=?ISO-8859-1?Q?gr=F6=DFe_1.txt?="', 'größe 1.txt'],
    ['with two words', 'filename="=?UTF-8?Q?gr=C3=B6?= =?UTF-8?Q?=C3=9Fe.txt?="', 'größe.txt'],
    ['with a path in a word', 'filename="=?UTF-8?Q?../up/w=C3=B6rd.txt?="', 'wörd.txt'],
    ['with a word of an unknown charset', 'filename="=?x-none?Q?a=20b?="', '=?x-none?Q?a=20b?='],
  ])('means the same in both interfaces: %s', async (_, parameters, name) => {
    expect(await outcomes(parameters)).toEqual([`rest/${name}`, `graph/${name}`])
  })

  it.each([
    ['a backslash', 'filename="back\\slash.txt"'],
    ['a backslash in a word', 'filename="=?UTF-8?Q?back=5Cslash.txt?="'],
    ['nothing after a slash', 'filename="a/"'],
    ['two dots', 'filename="a/.."'],
    ['a line break of a browser', 'filename="a%0Ab.txt"'],
    ['bytes that are not UTF-8', `filename*=UTF-8''%EF%BF%BD.txt`],
  ])('is refused by both interfaces with %s', async (_, parameters) => {
    expect(await outcomes(parameters)).toEqual(['INVALID_PATH', 'INVALID_PATH'])
  })

  it('is read in linear time', () => {
    const long = `${'=?u?Q?'.repeat(20_000)}${' '.repeat(20_000)}${'?= '.repeat(20_000)}`
    const before = performance.now()
    nameOfPart(long)
    expect(performance.now() - before).toBeLessThan(1000)
  })
})
