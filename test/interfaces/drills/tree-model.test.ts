import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ask } from '../../support/ask.ts'
import { ROOMY, UNHURRIED } from '../../support/builders.ts'
import { expectConsistent } from '../../support/consistency.ts'
import type { Anything } from '../../support/event-model.ts'
import { type GraphqlAnswer, type Person, startApp, type TestApp } from '../../support/harness.ts'
import { rounds } from '../../support/rounds.ts'

/**
 * A file with its bytes and its earlier bytes, newest first, or a folder (null). A moved entry
 * stays the same object.
 */
interface Entry {
  bytes: string | null
  versions?: string[]
}
/** Entries by path. In a subtree, the paths are relative. */
type Tree = Map<string, Entry>
interface TrashItem {
  id: string
  path: string
  /** The former folder. Undefined for the root. */
  parent: Entry | undefined
  part: Tree
}
interface Model {
  tree: Tree
  trash: TrashItem[]
  /** The number of changes that were made or refused so far. */
  changes: number
}
type OnConflict = 'FAIL' | 'KEEP_BOTH' | 'REPLACE'

/** The number of runs, each with up to 100 changes of a new person's drive. */
const RUNS = Number(process.env.TREE_MODEL_RUNS ?? rounds(20, 40))
const VERSIONS_KEPT = 3

let t: TestApp
beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, RATE_FOLDERS: '1000000', VERSIONS_KEPT: `${VERSIONS_KEPT}` })
  await t.limit(ROOMY)
})
afterAll(() => t.stop())

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const at = (folder: string, name: string) => (folder ? `${folder}/${name}` : name)
const isIn = (folder: string, path: string) => path.startsWith(`${folder}/`)
const allOf = (tree: Tree, path: string) =>
  [...tree.keys()].filter(key => key === path || isIn(path, key))
const foldersTo = (path: string) =>
  path.split('/').flatMap((_, i, names) => (i > 0 ? [names.slice(0, i).join('/')] : []))
const pathOf = (tree: Tree, entry: Entry) => [...tree].find(([, other]) => other === entry)?.[0]
/** Picks an item of a list by any number. */
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T

class Refused extends Error {}

/** Inserts an entry at a path, with all missing folders. @throws Refused */
function place(tree: Tree, path: string, part: Tree): void {
  if (tree.has(path) || foldersTo(path).some(folder => (tree.get(folder)?.bytes ?? null) !== null))
    throw new Refused()
  for (const folder of foldersTo(path)) if (!tree.has(folder)) tree.set(folder, { bytes: null })
  for (const [rest, entry] of part) tree.set(path + rest, entry)
}

/** Removes the entry at a path from a tree, with all its contents. */
function takeOut(tree: Tree, path: string): Tree {
  const part: Tree = new Map()
  for (const key of allOf(tree, path)) {
    part.set(key.slice(path.length), tree.get(key) as Entry)
    tree.delete(key)
  }
  return part
}

function discard(model: Model, path: string, id: string): void {
  const parent = model.tree.get(folderOf(path))
  model.trash.push({ id, path, parent, part: takeOut(model.tree, path) })
}

/** The first free name such as `a (2).txt`. */
function freePath(tree: Tree, path: string): string {
  const dot = nameOf(path).lastIndexOf('.')
  const cut = dot > 0 ? path.length - nameOf(path).length + dot : path.length
  for (let n = 2; ; n++) {
    const other = `${path.slice(0, cut)} (${n})${path.slice(cut)}`
    if (!tree.has(other)) return other
  }
}

/** Applies a change of a drive to a copy of a model. @returns null if the change is refused */
function tried(model: Model, change: (copy: Model) => void): Model | null {
  const copy = { ...model, tree: new Map(model.tree), trash: [...model.trash] }
  try {
    change(copy)
    return copy
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/** The id of a new item of the trash is unknown until the service returns it. */
const NEW = 'new'

const mutate = (person: Person, field: string, selection: string, input: object) =>
  person.graphql<Anything>(
    `mutation ($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { ${selection} } }`,
    { input },
  )

const PAGE =
  'nodes { __typename id path ... on File { size versions(first: 4) { nodes { size } } } }'

const sizeOf = ({ size }: { size: number }) => size

/** The drive of a person according to the service. */
async function stateOf(person: Person) {
  const entries = new Map<string, number[] | null>()
  const walk = async (path: string) => {
    const data = await ask(
      person,
      `query ($path: String!) { me { drive { entry(path: $path) { ... on Folder { entries(first: 100) { ${PAGE} } } } } } }`,
      { path },
    )
    for (const node of data.me.drive.entry.entries.nodes) {
      entries.set(
        node.path,
        node.__typename === 'File' ? [node.size, ...node.versions.nodes.map(sizeOf)] : null,
      )
      if (node.__typename === 'Folder') await walk(node.path)
    }
  }
  await walk('')
  const data = await ask(
    person,
    `{ me { drive { usage { usedBytes fileCount folderCount keptBytes } trash(first: 1000) { nodes { id kind path size } } } } }`,
  )
  const { usage, trash } = data.me.drive
  return {
    entries,
    usage,
    trash: trash.nodes as { id: string; kind: string; path: string; size: number }[],
  }
}

const sizesOf = (tree: Tree) => [...tree.values()].map(({ bytes }) => bytes?.length ?? 0)
const versionsOf = (tree: Tree) =>
  [...tree.values()].flatMap(({ versions = [] }) => versions.map(({ length }) => length))
const total = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0)
const kindOf = (part: Tree) => (part.get('')?.bytes == null ? 'FOLDER' : 'FILE')
const filesOf = (tree: Tree) => [...tree.values()].filter(({ bytes }) => bytes !== null).length

/** The same according to the model. */
function expectedOf({ tree, trash }: Model): Awaited<ReturnType<typeof stateOf>> {
  const items = trash.map(({ id, path, part }) => ({
    id,
    kind: kindOf(part),
    path,
    size: total(sizesOf(part)),
  }))
  return {
    entries: new Map(
      [...tree].map(([path, { bytes, versions = [] }]) => [
        path,
        bytes === null ? null : [bytes, ...versions].map(({ length }) => length),
      ]),
    ),
    usage: {
      usedBytes: total(sizesOf(tree)),
      fileCount: filesOf(tree),
      folderCount: tree.size - filesOf(tree),
      keptBytes: total([
        ...items.map(sizeOf),
        ...[tree, ...trash.map(({ part }) => part)].flatMap(versionsOf),
      ]),
    },
    trash: items,
  }
}

/**
 * Applies a change to the service and to the model. Both must accept it, or both must refuse it.
 */
const change = (
  words: string,
  ready: (model: Readonly<Model>) => boolean,
  predict: (model: Model) => { after: Model | null; send: (person: Person) => Promise<boolean> },
): fc.AsyncCommand<Model, Person> => ({
  check: ready,
  toString: () => words,
  async run(model, person) {
    const { after, send } = predict(model)
    model.changes++
    expect([words, await send(person)]).toEqual([words, after !== null])
    if (!after) return
    Object.assign(model, { tree: after.tree, trash: after.trash })
    if (model.trash.every(({ id }) => id !== NEW)) return
    const { trash } = await stateOf(person)
    const strangers = trash.filter(({ id }) => !model.trash.some(item => item.id === id))
    const expected = expectedOf(model).trash
    model.trash = model.trash.map((item, n) => {
      // One change may delete a folder and a file of the same path.
      const isIt = ({ kind, path, size }: (typeof strangers)[number]) =>
        [kind, path, size].join() ===
        [expected[n]?.kind, expected[n]?.path, expected[n]?.size].join()
      const i = item.id === NEW ? strangers.findIndex(isIt) : -1
      return i < 0 ? item : { ...item, id: strangers.splice(i, 1)[0]?.id ?? NEW }
    })
  },
})

const done = ({ code, data }: GraphqlAnswer<Anything>) => !code && data !== null
const somewhere = fc
  .array(fc.constantFrom('a', 'b', 'c.txt'), { minLength: 1, maxLength: 3 })
  .map(names => names.join('/'))
const target = fc.oneof(
  { arbitrary: fc.constant(''), weight: 1 },
  { arbitrary: somewhere, weight: 3 },
)
const bytes = fc.integer({ min: 0, max: 20 }).map(length => 'x'.repeat(length))
const paths = ({ tree }: Model) => [...tree.keys()].sort()
const ref = (path: string) => ({ at: { path } })

const choice = fc.constantFrom<OnConflict>('FAIL', 'KEEP_BOTH', 'REPLACE')

const upload = fc.tuple(somewhere, bytes, choice).map(([path, text, onConflict]) =>
  change(
    `upload ${path}, ${onConflict}`,
    () => true,
    model => ({
      after: tried(model, ({ tree }) => {
        const there = tree.get(path)
        if (there && onConflict === 'REPLACE') {
          if (there.bytes === null) throw new Refused()
          const versions = [there.bytes, ...(there.versions ?? [])].slice(0, VERSIONS_KEPT)
          tree.set(path, { bytes: text, versions })
        } else {
          const free = there && onConflict === 'KEEP_BOTH' ? freePath(tree, path) : path
          place(tree, free, new Map([['', { bytes: text }]]))
        }
      }),
      send: async person => {
        const form = new FormData()
        form.append('folder', folderOf(path))
        form.append('on_conflict', onConflict.toLowerCase())
        form.append('file', new File([text], nameOf(path)))
        return (await person.rest('POST', '/api/files/upload', { form })).status === 200
      },
    }),
  ),
)

/** A change of one version of a file. */
const ofVersion = (
  field: 'restoreVersion' | 'deleteVersion',
  does: (file: Required<Entry>, n: number) => Entry,
) =>
  fc.tuple(fc.nat(), fc.nat()).map(([fileNumber, n]) => {
    const replaced = ({ tree }: Readonly<Model>) =>
      [...tree].filter(([, { versions = [] }]) => versions.length > 0)
    return change(
      `${field} ${n} of file ${fileNumber}`,
      model => replaced(model).length > 0,
      model => {
        const [path, { bytes, versions = [] }] = pick(replaced(model).sort(), fileNumber)
        return {
          after: tried(model, ({ tree }) =>
            tree.set(path, does({ bytes, versions: [...versions] }, n % versions.length)),
          ),
          send: async person => {
            const query = `query ($path: String!) { me { drive { entry(path: $path) { ... on File { versions { nodes { id } } } } } } }`
            const { nodes } = (await ask(person, query, { path })).me.drive.entry.versions
            const version = nodes[n % versions.length].id
            return done(await mutate(person, field, 'file { id }', { version }))
          },
        }
      },
    )
  })

const restoreVersion = ofVersion('restoreVersion', ({ bytes, versions }, n) => {
  const [old] = versions.splice(n, 1)
  return { bytes: old ?? null, versions: [bytes ?? '', ...versions] }
})

const deleteVersion = ofVersion('deleteVersion', ({ bytes, versions }, n) => ({
  bytes,
  versions: versions.toSpliced(n, 1),
}))

const createFolder = somewhere.map(path =>
  change(
    `create folder ${path}`,
    () => true,
    model => ({
      after: tried(model, ({ tree }) => place(tree, path, new Map([['', { bytes: null }]]))),
      send: async person => done(await mutate(person, 'createFolder', 'folder { id }', ref(path))),
    }),
  ),
)

const move = fc.tuple(fc.nat(), target).map(([n, to]) =>
  change(
    `move entry ${n} to ${to || 'the root'}`,
    ({ tree }) => tree.size > 0,
    model => {
      const from = pick(paths(model), n)
      return {
        after: tried(model, ({ tree }) => {
          const path = at(to, nameOf(from))
          if (path === from) return
          if (to === from || isIn(from, to)) throw new Refused()
          const part = takeOut(tree, from)
          place(tree, path, part)
        }),
        send: async person =>
          done(
            await mutate(person, 'moveEntries', 'entries { id }', {
              entries: [ref(from)],
              to: ref(to),
            }),
          ),
      }
    },
  ),
)

const remove = fc.array(fc.nat(), { minLength: 1, maxLength: 3 }).map(numbers =>
  change(
    `delete entries ${numbers.join()}`,
    ({ tree }) => tree.size > 0,
    model => {
      const chosen = [...new Set(numbers.map(n => pick(paths(model), n)))]
      const outer = chosen.filter(path => !chosen.some(other => isIn(other, path)))
      return {
        after: tried(model, copy => {
          for (const path of outer) discard(copy, path, NEW)
        }),
        send: async person =>
          done(
            await mutate(person, 'deleteEntries', 'deletedIds', {
              entries: chosen.map(ref),
              recursive: true,
            }),
          ),
      }
    },
  ),
)

const restore = fc
  .tuple(fc.array(fc.nat(), { minLength: 1, maxLength: 2 }), fc.option(target), choice)
  .map(([numbers, to, onConflict]) =>
    change(
      `restore items ${numbers.join()} to ${to ?? 'where they were'}, ${onConflict}`,
      ({ trash }) => trash.length > 0,
      model => {
        const items = [...new Set(numbers.map(n => pick(model.trash, n)))]
        return {
          after: tried(model, copy => {
            const folders = items.map(({ path, parent }) => {
              if (to !== null) return to
              return (parent && pathOf(copy.tree, parent)) ?? folderOf(path)
            })
            items.forEach((item, i) => {
              let path = at(folders[i] ?? '', nameOf(item.path))
              if (copy.tree.has(path)) {
                if (onConflict === 'FAIL') throw new Refused()
                if (onConflict === 'KEEP_BOTH') path = freePath(copy.tree, path)
                else discard(copy, path, NEW)
              }
              copy.trash.splice(copy.trash.indexOf(item), 1)
              place(copy.tree, path, item.part)
            })
          }),
          send: async person =>
            done(
              await mutate(person, 'restoreFromTrash', 'removedIds', {
                items: items.map(({ id }) => id),
                onConflict,
                ...(to === null ? {} : { to: ref(to) }),
              }),
            ),
        }
      },
    ),
  )

const deleteForEver = fc.array(fc.nat(), { minLength: 1, maxLength: 3 }).map(numbers =>
  change(
    `delete items ${numbers.join()} for ever`,
    ({ trash }) => trash.length > 0,
    model => {
      const items = [...new Set(numbers.map(n => pick(model.trash, n)))]
      return {
        after: tried(model, copy => {
          copy.trash = copy.trash.filter(item => !items.includes(item))
        }),
        send: async person =>
          done(
            await mutate(person, 'deleteFromTrash', 'deletedIds', {
              items: items.map(({ id }) => id),
            }),
          ),
      }
    },
  ),
)

const emptyTrash = fc.constant(
  change(
    'empty the trash',
    () => true,
    model => ({
      after: tried(model, copy => {
        copy.trash = []
      }),
      send: async person => done(await mutate(person, 'emptyTrash', 'count', {})),
    }),
  ),
)

const byId = (items: { id: string }[]) => [...items].sort((a, b) => (a.id < b.id ? -1 : 1))

it('Random changes leave drive, usage, ledger and store exactly as the model predicts', async () => {
  let [serial, changes] = [0, 0]
  const commands = [
    upload,
    upload,
    upload,
    restoreVersion,
    deleteVersion,
    createFolder,
    move,
    move,
    remove,
    restore,
    restore,
    deleteForEver,
    emptyTrash,
  ]
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 100, size: 'max' }), async list => {
      const model: Model = { tree: new Map(), trash: [], changes: 0 }
      const person = await t.signIn(`modelled${serial++}`)
      await fc.asyncModelRun(() => ({ model, real: person }), list)
      changes += model.changes
      // Contents of permanently deleted folders are counted until the worker has purged them.
      await t.app.worker.idle()
      const [is, expected] = [await stateOf(person), expectedOf(model)]
      expect(is.entries).toEqual(expected.entries)
      expect(is.usage).toEqual(expected.usage)
      expect(byId(is.trash)).toEqual(byId(expected.trash))
    }),
    // A failure is shrunk only within the time limit of the test.
    { numRuns: RUNS, ...(process.env.TREE_MODEL_RUNS ? {} : { interruptAfterTimeLimit: 400_000 }) },
  )
  expect(changes).toBeGreaterThan(10 * RUNS)
  await expectConsistent(t)
}, 600_000)
