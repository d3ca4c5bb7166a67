import { MAX_COPIED } from '../../src/values/limits.ts'
import { ask } from './ask.ts'
import type { Person } from './harness.ts'

const COPY = 'mutation ($input: CopyEntriesInput!) { copyEntries(input: $input) { to { id } } }'
const MOVE = 'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { to { id } } }'
const WEIGHT =
  'query ($path: String!) { me { drive { entry(path: $path) { size ... on Folder { fileCount } } } } }'

/** Creates more nested folders and files than one call can copy. Returns their numbers. */
export async function plantForest(
  person: Person,
  folder: string,
): Promise<{ files: number; folders: number; bytes: number }> {
  const at = (path: string) => ({ at: { path } })
  for (const name of ['a', 'b', 'c'])
    await person.upload(`${folder}/${name}/leaf.txt`, `leaf ${name}`)
  let [folders, files] = [4, 3]
  // Copies of copies are fast to create.
  for (let i = 0; folders + files <= MAX_COPIED; i++) {
    const copy = { entries: [at(folder)], to: at(`${folder}-more`), name: `part${i}` }
    await ask(person, COPY, { input: copy })
    const move = { entries: [at(`${folder}-more/part${i}`)], to: at(folder) }
    await ask(person, MOVE, { input: move })
    folders *= 2
    files *= 2
  }
  const { entry } = (await ask(person, WEIGHT, { path: folder })).me.drive
  return { files: entry.fileCount, folders, bytes: Number(entry.size) }
}
