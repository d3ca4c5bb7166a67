import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, codeOf } from '../support/ask.ts'
import { ROOMY, UNHURRIED } from '../support/builders.ts'
import { expectConsistent } from '../support/consistency.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'

let t: TestApp

beforeAll(async () => {
  // Counts the statements of one process.
  t = await startApp({ ...UNHURRIED, WORKERS: '1' })
  await t.limit(ROOMY)
})
afterAll(() => t.stop())
afterEach(() => expectConsistent(t))

const MOVE =
  'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { drive { usage { folderCount } } } }'
const DELETE =
  'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { filesDeleted } }'
const PATHS = '{ me { drive { search(query: ".txt", first: 100) { nodes { path } } } } }'

// Statements are for up to 100 folders, and events find their own numbers up to eight.
const [FEW, MANY] = [10, 40]
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const at = (path: string) => ({ at: { path } })

/**
 * A person with a file in each of several folders: 0/inner/0.txt, 1/inner/1.txt. The files differ
 * in size.
 */
async function stocked(count: number): Promise<Person> {
  const person = await t.signIn(`stocked-${crypto.randomUUID()}`)
  for (const i of numbers(count)) await person.upload(`${i}/inner/${i}.txt`, 'x'.repeat(i + 1))
  return person
}

const pathsOf = async (person: Person): Promise<string[]> =>
  (await ask(person, PATHS)).me.drive.search.nodes.map((node: { path: string }) => node.path)

describe('The statements of one request', () => {
  const changes: Record<string, (person: Person, count: number) => Promise<unknown>> = {
    'that moves files from many folders': async (person, count) => {
      const entries = numbers(count).map(i => at(`${i}/inner/${i}.txt`))
      await ask(person, MOVE, { input: { entries, to: at('new/place') } })
      return numbers(count).map(i => `new/place/${i}.txt`)
    },
    'that moves many folders': async (person, count) => {
      const entries = numbers(count).map(i => at(`${i}`))
      await ask(person, MOVE, { input: { entries, to: at('new/place') } })
      return numbers(count).map(i => `new/place/${i}/inner/${i}.txt`)
    },
    'that deletes files from many folders': async (person, count) => {
      const entries = numbers(count).map(i => at(`${i}/inner/${i}.txt`))
      expect((await ask(person, DELETE, { input: { entries } })).deleteEntries.filesDeleted).toBe(
        count,
      )
      return []
    },
    'that deletes many folders, empty and full ones': async (person, count) => {
      await person.rest('DELETE', '/api/files/delete/batch', { json: { files: ['0/inner/0.txt'] } })
      t.statements()
      const entries = numbers(count).map(i => at(`${i}/inner`))
      expect(
        (await ask(person, DELETE, { input: { entries, recursive: true } })).deleteEntries
          .filesDeleted,
      ).toBe(count - 1)
      return []
    },
    'that deletes files from many folders by REST': async (person, count) => {
      const files = numbers(count).map(i => `${i}/inner/${i}.txt`)
      const { response } = await person.rest('DELETE', '/api/files/delete/batch', {
        json: { files: [...files, '0/no'] },
      })
      expect(response).toEqual({ files_deleted: files, files_failed: ['0/no'] })
      return []
    },
  }

  it.each(Object.entries(changes))('%s are as many as for a few', async (_name, change) => {
    const count = async (size: number) => {
      const person = await stocked(size)
      await ask(person, '{ me { email } }')
      await t.settle()
      t.statements()
      const left = await change(person, size)
      const statements = t.statements().length
      expect((await pathsOf(person)).sort()).toEqual((left as string[]).sort())
      return statements
    }
    expect(await count(MANY)).toBe(await count(FEW))
  })
})

describe('Many entries', () => {
  it('are moved all or none: not onto each other, not onto existing entries, not beyond the longest path', async () => {
    const person = await stocked(3)
    for (const i of numbers(3)) await person.upload(`${i}/same.txt`, 'abc')
    const before = (await pathsOf(person)).sort()
    const move = (paths: string[], to: string) =>
      codeOf(person, MOVE, { input: { entries: paths.map(at), to: at(to) } })
    expect(await move(['0/inner', '1/same.txt', '2/same.txt'], 'new')).toBe('PATH_EXISTS')
    expect(await move(['0/inner', '1/inner/1.txt', '2/same.txt'], '1')).toBe('PATH_EXISTS')
    expect(await move(['0/inner', '2/same.txt'], '1/same.txt')).toBe('PATH_EXISTS')
    const far = ['far', ...numbers(29)].join('/')
    expect(await move(['0/same.txt', '1'], far)).toBe('INVALID_PATH')
    expect((await pathsOf(person)).sort()).toEqual(before)
    const moved = await ask(person, MOVE, {
      input: { entries: ['0/same.txt', '1/inner/1.txt'].map(at), to: at(far) },
    })
    expect(moved.moveEntries.drive.usage.folderCount).toBe(6 + 30)
  })

  it('do not count deleted subfolders towards the depth at the target', async () => {
    const person = await stocked(2)
    for (const i of numbers(2)) await person.upload(`${i}/a/b/c/d/e/deep.txt`, 'x')
    await ask(person, DELETE, {
      input: { entries: numbers(2).map(i => at(`${i}/a`)), recursive: true },
    })
    const far = ['far', ...numbers(28)].join('/')
    await ask(person, MOVE, { input: { entries: numbers(2).map(i => at(`${i}`)), to: at(far) } })
    expect((await pathsOf(person)).sort()).toEqual(
      numbers(2).map(i => `${far}/${i}/inner/${i}.txt`),
    )
  })
})
