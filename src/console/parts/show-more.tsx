import type { CombinedError } from 'urql'
import { Button } from './button.tsx'
import { ErrorState } from './states.tsx'
import { text } from './text.ts'

interface ShowMoreProps {
  hasMore: boolean
  /** Loads the next page. */
  more: () => void
  /** The error of the last attempt. */
  error?: CombinedError | undefined
  refresh?: () => void
  look?: 'ghost'
}

/** Loads the next page at the end of a list. */
export const ShowMore = ({ hasMore, more, error, refresh = more, look }: ShowMoreProps) =>
  !hasMore ? null : error ? (
    <ErrorState error={error} retry={refresh} />
  ) : (
    <Button {...(look && { look })} className="show-more" onPress={more}>
      {text('more')}
    </Button>
  )
