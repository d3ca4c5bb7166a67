import { useEffect, useState } from 'react'
import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { ask } from '../graphql/run.ts'

/** The drives that the person may read. */
export const DRIVES = graphql(`
  query PaletteDrives {
    me {
      id
      drive {
        id
      }
      workspaces(first: 1000) {
        nodes {
          id
          name
          slug
          drive {
            id
          }
        }
      }
    }
  }
`)

type Viewer = ResultOf<typeof DRIVES>['me']
export type Workspace = NonNullable<Viewer['workspaces']>['nodes'][number]

const FIND = graphql(`
  query Find($drives: [ID!]!, $query: String!, $first: Int!) {
    nodes(ids: $drives) {
      __typename
      id
      ... on Drive {
        search(query: $query, first: $first) {
          nodes {
            __typename
            id
            name
            path
            ... on File {
              contentType
              size
            }
          }
        }
      }
    }
  }
`)

type FoundDrive = Extract<ResultOf<typeof FIND>['nodes'][number], { __typename: 'Drive' }>
type Entry = FoundDrive['search']['nodes'][number]

/** An entry, and the workspace whose it is; null for the own drive. */
export interface Found {
  entry: Entry
  workspace: Workspace | null
}

/** A drive to search in, and the workspace whose it is. */
export interface Searched {
  id: string
  workspace: Workspace | null
}

/** A request searches so many drives: each costs (docs/security.md). */
const DRIVES_AT_ONCE = 10
const OF_EACH_DRIVE = 6
/** With so many found, what is left is better found by typing on. */
const ENOUGH = 24
const PAUSE_MS = 180

interface Finding {
  found: readonly Found[]
  isBusy: boolean
  error: Error | undefined
}

const nothing: Finding = { found: [], isBusy: false, error: undefined }

const isIn = (query: string, name: string) => name.toLowerCase().includes(query.toLowerCase())

/** What has a name that contains a text, in some drives one after the other. An answer that comes late is dropped. */
export function useFind(query: string, drives: readonly Searched[]): Finding & { retry: () => void } {
  const [finding, setFinding] = useState(nothing)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks again
  useEffect(() => {
    if (!query) return setFinding(nothing)
    let isOver = false
    const add = (change: Partial<Finding>) => isOver || setFinding(now => ({ ...now, ...change }))
    add({ isBusy: true, error: undefined })
    const timer = setTimeout(async () => {
      const found: Found[] = []
      try {
        for (let at = 0; at < drives.length && found.length < ENOUGH && !isOver; at += DRIVES_AT_ONCE) {
          const some = drives.slice(at, at + DRIVES_AT_ONCE)
          const { nodes } = await ask(FIND, { drives: some.map(({ id }) => id), query, first: OF_EACH_DRIVE })
          nodes.forEach((node, index) => {
            const workspace = some[index]?.workspace ?? null
            if (node?.__typename === 'Drive') found.push(...node.search.nodes.map(entry => ({ entry, workspace })))
          })
          add({ found: [...found] })
        }
        add({ found, isBusy: false })
      } catch (error) {
        add({ found, isBusy: false, error: error as Error })
      }
    }, PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [query, drives, attempt])
  // What the last text has found stays only as far as it fits this one.
  const found = finding.found.filter(({ entry }) => query && isIn(query, entry.name))
  return { ...finding, found, retry: () => setAttempt(now => now + 1) }
}
