import { type PagedList, usePages } from '../graphql/use-pages.ts'
import { SHARES_OF, type Share, type SharesData } from './documents.ts'

const fileIn = (data: SharesData | undefined) => (data?.node?.__typename === 'File' ? data.node : undefined)

export interface Shares extends PagedList<Share, SharesData> {
  /** There is no such file any more. */
  isGone: boolean
}

/** The shares of one kind of a file, the last made first: it is what one looks for. */
export function useShares(id: string, kind: 'DIRECT' | 'LINK'): Shares {
  const listed = usePages({
    document: SHARES_OF,
    variables: { id, kind },
    connectionOf: (data: SharesData | undefined) => fileIn(data)?.shares,
    first: 100,
    next: 100,
  })
  return { ...listed, isGone: listed.data !== undefined && !fileIn(listed.data) }
}
