import { type PagedList, usePages } from '../graphql/use-pages.ts'
import { SHARES_OF, type Share, type SharesData } from './documents.ts'

const entryIn = ({ node }: SharesData) =>
  node?.__typename === 'File' || node?.__typename === 'Folder' ? node : undefined

export interface Shares extends PagedList<Share, SharesData> {
  /** There is no such file or folder any more. */
  isGone: boolean
}

/** The shares of one kind of a file or folder, the last made first: it is what one looks for. */
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
