import './audit.css'
import { useSearch } from '@tanstack/react-router'
import type { ResultOf } from '../../../graphql/graphql.ts'
import { usePages } from '../../../graphql/use-pages.ts'
import { LinkButton } from '../../../parts/button.tsx'
import { Download, SearchX } from '../../../parts/icons.ts'
import { Rows } from '../../../parts/rows.tsx'
import { Section } from '../../../parts/screen.tsx'
import { ShowMore } from '../../../parts/show-more.tsx'
import { EmptyState, Skeleton } from '../../../parts/states.tsx'
import { AdminScreen } from '../admin-screen.tsx'
import { TRAIL } from './documents.ts'
import { AuditEntry } from './entry.tsx'
import { Filters } from './filters.tsx'
import { exportOf, filterOf, readSearch } from './search.ts'
import { text } from './text.ts'

const formats = { csv: 'CSV', ndjson: 'NDJSON' } as const

/** The audit trail: who did what, when and from where. */
export function Audit() {
  const search = readSearch(useSearch({ strict: false }))
  const { entries, hasMore, isLoading, error, more, refresh } = usePages({
    document: TRAIL,
    variables: { filter: filterOf(search) },
    connectionOf: (data: ResultOf<typeof TRAIL> | undefined) => data?.operator.auditTrail,
    first: 50,
    next: 100,
  })
  return (
    <AdminScreen error={error} retry={refresh}>
      <Section title={text('filters')}>
        <Filters key={JSON.stringify(search)} search={search} />
      </Section>
      <Section
        title={text('audit')}
        hint={text('auditHint')}
        actions={
          <div className="audit-exports">
            {(['csv', 'ndjson'] as const).map(format => (
              <LinkButton
                key={format}
                href={exportOf(search, format)}
                aria-label={text('exportAs', { format: formats[format] })}
                download
              >
                <Download />
                {formats[format]}
              </LinkButton>
            ))}
          </div>
        }
      >
        {isLoading ? (
          <Skeleton />
        ) : entries.length === 0 ? (
          <EmptyState
            icon={SearchX}
            level="h3"
            title={text('nothing')}
            hint={text('nothingHint')}
          />
        ) : (
          <Rows label={text('entries')}>
            {entries.map(entry => (
              <AuditEntry key={entry.id} entry={entry} search={search} />
            ))}
          </Rows>
        )}
        <ShowMore hasMore={hasMore} more={more} />
      </Section>
    </AdminScreen>
  )
}
