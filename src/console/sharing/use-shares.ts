import { type PagedList, usePages } from '../graphql/use-pages.ts'
import { SHARES_AMONG, SHARES_OF, type Share, type SharesData } from './documents.ts'

const entryIn = ({ node }: SharesData) =>
  node?.__typename === 'File' || node?.__typename === 'Folder' ? node : undefined

export interface Shares extends Omit<PagedList<Share, unknown>, 'data'> {
  data: unknown
  /** Whether the file or folder no longer exists. */
  isGone: boolean
}

/** The shares of a file or folder of one kind, newest first. */
export function useShares(id: string, kind: 'DIRECT' | 'LINK'): Shares {
  const listed = usePages({
    document: SHARES_OF,
    variables: { id, kind },
    connectionOf: (data: SharesData | undefined) => data && entryIn(data)?.shares,
    first: 100,
    next: 100,
  })
  return { ...listed, isGone: listed.data !== undefined && !entryIn(listed.data) }
}

/** The shares of one kind that contain one of several entries, newest first. */
export function useSharesAmong(entries: readonly string[], kind: 'DIRECT' | 'LINK'): Shares {
  const listed = usePages({
    document: SHARES_AMONG,
    variables: { entries: [...entries], kind },
    connectionOf: data => data?.me.shares,
    first: 100,
    next: 100,
  })
  return { ...listed, isGone: false }
}
