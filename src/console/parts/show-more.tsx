import type { CombinedError } from 'urql'
import { Button } from './button.tsx'
import { ErrorState } from './states.tsx'
import { text } from './text.ts'

interface ShowMoreProps {
  hasMore: boolean
  /** Loads the next page. */
  more: () => void
  /** Why the next page could not be loaded. */
  error?: CombinedError | undefined
  refresh?: () => void
  look?: 'ghost'
}

/** At the end of a list that continues: loads what follows. */
export const ShowMore = ({ hasMore, more, error, refresh = more, look }: ShowMoreProps) =>
  !hasMore ? null : error ? (
    <ErrorState error={error} retry={refresh} />
  ) : (
    <Button {...(look && { look })} className="show-more" onPress={more}>
      {text('more')}
    </Button>
  )
