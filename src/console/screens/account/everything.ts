import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { ask, mutate } from '../../graphql/run.ts'
import { MAX_ZIPPED, ZIP } from '../files/on-demand/documents.ts'

/** The most files in one archive. This leaves room for as many folders. */
const MOST_ENTRIES = 50_000
/** Browsers drop a download that has not started when the next one begins. */
const APART_MS = 1500

const WHOLE = graphql(`
  query WholeDrive($after: String) {
    me {
      id
      drive {
        id
        root {
          id
          entries(first: 1000, after: $after) {
            nodes {
              __typename
              id
              name
              ... on Folder {
                fileCount
              }
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
      }
    }
  }
`)

type Whole = ResultOf<typeof WHOLE>['me']

interface Named {
  id: string
  count: number
}

/** Packs entries into as few archives as the limits allow. */
function packed(entries: readonly Named[]): string[][] {
  const archives: string[][] = []
  let room = 0
  for (const { id, count } of entries) {
    const last = archives.at(-1)
    if (last && last.length < MAX_ZIPPED && count <= room) {
      last.push(id)
      room -= count
    } else {
      archives.push([id])
      room = MOST_ENTRIES - count
    }
  }
  return archives
}

/**
 * Starts the downloads of all files of the person's own drive, as ZIP archives. Returns their
 * number, which is 0 if there are no files.
 *
 * @throws Refused, for example because one folder has too many files
 */
export async function downloadFiles(): Promise<number> {
  const all: Named[] = []
  let rootId = ''
  let after: string | null = null
  for (;;) {
    const { me } = (await ask(WHOLE, { after })) as { me: Whole }
    const { id, entries }: Whole['drive']['root'] = me.drive.root
    rootId = id
    for (const entry of entries.nodes)
      all.push({
        id: entry.id,
        count: entry.__typename === 'Folder' ? entry.fileCount + 1 : 1,
      })
    after = entries.pageInfo.endCursor
    if (!entries.pageInfo.hasNextPage) break
  }
  if (all.length === 0) return 0
  const total = all.reduce((sum, { count }) => sum + count, 0)
  const archives = total < MOST_ENTRIES ? [[rootId]] : packed(all)
  for (const [at, ids] of archives.entries()) {
    if (at > 0) await new Promise(resolve => setTimeout(resolve, APART_MS))
    const { zipEntries } = await mutate(ZIP, { input: { entries: ids.map(id => ({ id })) } })
    if (!zipEntries) continue
    const link = document.createElement('a')
    link.href = zipEntries.download.url
    link.download = zipEntries.download.fileName
    link.click()
  }
  return archives.length
}
