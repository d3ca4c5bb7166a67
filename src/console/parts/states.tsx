import type { ReactNode } from 'react'
import type { CombinedError } from 'urql'
import { Refused } from '../graphql/errors.ts'
import { Button } from './button.tsx'
import { CloudOff, type LucideIcon } from './icons.ts'
import { text } from './text.ts'

/** Empty state: what will appear here and how to begin. */
export const EmptyState = ({
  icon: Icon,
  title,
  hint,
  level: Heading = 'h2',
  children,
}: {
  icon: LucideIcon
  title: string
  hint?: string
  level?: 'h1' | 'h2' | 'h3'
  children?: ReactNode
}) => (
  <div className="state">
    <span className="state-icon">
      <Icon aria-hidden />
    </span>
    <Heading>{title}</Heading>
    {hint && <p>{hint}</p>}
    {children}
  </div>
)

/** Error state: the reason, and a retry button. */
export function ErrorState({
  error,
  retry,
}: {
  error: CombinedError | Refused | Error
  retry?: () => void
}) {
  const unreached = 'networkError' in error && error.networkError
  const message = unreached
    ? text('offline')
    : 'graphQLErrors' in error
      ? new Refused(error).message
      : error.message
  return (
    <div className="state" role="alert">
      <span className="state-icon wrong">
        <CloudOff aria-hidden />
      </span>
      <h2>{text('failed')}</h2>
      <p>{message}</p>
      {retry && <Button onPress={retry}>{text('retry')}</Button>}
    </div>
  )
}

/** Placeholder rows while loading. */
export const Skeleton = ({ rows = 8 }: { rows?: number }) => (
  <div className="skeleton" role="status" aria-label={text('loading')}>
    {Array.from({ length: rows }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: all rows are alike
      <div key={row} className="skeleton-row" />
    ))}
  </div>
)
