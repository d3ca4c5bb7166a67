import { type PagedList, usePages } from '../graphql/use-pages.ts'
import { SHARES_OF, type Share, type SharesData } from './documents.ts'

const entryIn = ({ node }: SharesData) =>
  node?.__typename === 'File' || node?.__typename === 'Folder' ? node : undefined

export interface Shares extends PagedList<Share, SharesData> {
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
