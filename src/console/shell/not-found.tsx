import { LinkButton } from '../parts/button.tsx'
import { Compass } from '../parts/icons.ts'
import { EmptyState } from '../parts/states.tsx'
import { useTitle } from '../parts/use-title.ts'
import { text } from './text.ts'

/** Shown for unknown URLs. */
export function NotFound() {
  useTitle(text('notFound'))
  return (
    <EmptyState icon={Compass} level="h1" title={text('notFound')} hint={text('notFoundHint')}>
      <LinkButton href="/files">{text('files')}</LinkButton>
    </EmptyState>
  )
}
