import './grants.css'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { ResultOf } from '../../../graphql/graphql.ts'
import { mutate } from '../../../graphql/run.ts'
import { usePages } from '../../../graphql/use-pages.ts'
import { Button } from '../../../parts/button.tsx'
import { Choices } from '../../../parts/choices.tsx'
import { Confirm } from '../../../parts/dialog.tsx'
import { CheckBox } from '../../../parts/form.tsx'
import { Ban, Link2, X } from '../../../parts/icons.ts'
import { personName } from '../../../parts/person-name.ts'
import { Rows } from '../../../parts/rows.tsx'
import { Section } from '../../../parts/screen.tsx'
import { ShowMore } from '../../../parts/show-more.tsx'
import { EmptyState, Skeleton } from '../../../parts/states.tsx'
import { toast, toastError } from '../../../parts/toasts.tsx'
import { AdminScreen } from '../admin-screen.tsx'
import { END_GRANTS, GRANTS, type Grant } from './documents.ts'
import { GrantRow } from './grant-row.tsx'
import { filterOf, type GrantsSearch, readSearch } from './search.ts'
import { text } from './text.ts'

/** The links, shares and file requests of all people. */
export function Grants() {
  const search = readSearch(useSearch({ strict: false }))
  const listed = usePages({
    document: GRANTS,
    variables: { filter: filterOf(search) },
    connectionOf: (data: ResultOf<typeof GRANTS> | undefined) => data?.operator.grants,
    first: 50,
    next: 100,
  })
  const { entries, isLoading, error, refresh } = listed
  return (
    <AdminScreen error={error} retry={refresh}>
      <Section title={text('grants')} hint={text('grantsHint')}>
        <Filters search={search} grants={entries} />
        {isLoading ? (
          <Skeleton />
        ) : entries.length === 0 ? (
          <EmptyState icon={Link2} level="h3" title={text('none')} hint={text('noneHint')} />
        ) : (
          <List key={JSON.stringify(search)} grants={entries} search={search} onEnded={refresh} />
        )}
        <ShowMore {...listed} />
      </Section>
    </AdminScreen>
  )
}

/** @param grants the listed grants, of which the first names the person and the workspace */
function Filters({ search, grants }: { search: GrantsSearch; grants: readonly Grant[] }) {
  const navigate = useNavigate()
  const show = (to: GrantsSearch) =>
    void navigate({ to: '/admin/shares', search: readSearch({ ...search, ...to }) })
  const [first] = grants
  const chosen = [
    ...(search.person
      ? [
          {
            label: text('ofPerson', {
              name: first?.sharer ? personName(first.sharer) : search.person,
            }),
            without: { person: undefined },
          },
        ]
      : []),
    ...(search.workspace
      ? [
          {
            label: text('ofWorkspace', { name: first?.workspaceName ?? search.workspace }),
            without: { workspace: undefined },
          },
        ]
      : []),
  ]
  return (
    <div className="grants-filters" role="search" aria-label={text('filters')}>
      <Choices
        label={text('kind')}
        value={search.kind ?? 'all'}
        options={{
          all: text('all'),
          link: text('links'),
          direct: text('people'),
          request: text('requests'),
        }}
        onChoose={kind => show({ kind: kind === 'all' ? undefined : kind })}
      />
      <CheckBox
        label={text('neverExpires')}
        checked={search.forever ?? false}
        onChange={({ target }) => show({ forever: target.checked || undefined })}
      />
      <CheckBox
        label={text('withoutPassword')}
        checked={search.unprotected ?? false}
        onChange={({ target }) => show({ unprotected: target.checked || undefined })}
      />
      <CheckBox
        label={text('breaksRules')}
        checked={search.breaking ?? false}
        onChange={({ target }) => show({ breaking: target.checked || undefined })}
      />
      {chosen.map(({ label, without }) => (
        <span key={label} className="chips">
          <bdi>{label}</bdi>
          <Button onPress={() => show(without as GrantsSearch)}>
            <X />
            {text('showAll')}
          </Button>
        </span>
      ))}
    </div>
  )
}

interface ListProps {
  grants: readonly Grant[]
  search: GrantsSearch
  onEnded: () => void
}

/** The grants with check boxes, to end the selected ones. */
function List({ grants, search, onEnded }: ListProps) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [isEnding, setEnding] = useState(false)
  const ids = grants.map(({ id }) => id).filter(id => marked.has(id))
  const count = ids.length
  const mark = (id: string, isIn: boolean) =>
    setMarked(before => new Set(isIn ? [...before, id] : [...before].filter(one => one !== id)))
  const end = async () => {
    const { operatorEndGrants } = await mutate(END_GRANTS, { input: { grants: ids } })
    toast({ message: text('ended', { count: operatorEndGrants?.endedIds.length ?? 0 }) })
    setMarked(new Set())
    onEnded()
  }
  return (
    <>
      <div className="grants-selected">
        <input
          type="checkbox"
          aria-label={text('selectAll')}
          checked={count === grants.length}
          ref={box => {
            if (box) box.indeterminate = count > 0 && count < grants.length
          }}
          onChange={({ target }) =>
            setMarked(new Set(target.checked ? grants.map(({ id }) => id) : []))
          }
        />
        {count === 0 && <span aria-hidden>{text('selectAll')}</span>}
        <span role="status">{count === 0 ? '' : text('selected', { count })}</span>
        {count > 0 && (
          <Button look="danger" onPress={() => setEnding(true)}>
            <Ban />
            {text('end')}
          </Button>
        )}
        <Confirm
          title={text('endTitle', { count })}
          isOpen={isEnding}
          label={text('end')}
          onConfirm={() => void end().catch(toastError)}
          onClose={() => setEnding(false)}
        >
          <p>{text('endWhy')}</p>
        </Confirm>
      </div>
      <Rows label={text('grants')}>
        {grants.map(grant => (
          <GrantRow
            key={grant.id}
            grant={grant}
            search={search}
            isMarked={marked.has(grant.id)}
            onMark={isIn => mark(grant.id, isIn)}
          />
        ))}
      </Rows>
    </>
  )
}
