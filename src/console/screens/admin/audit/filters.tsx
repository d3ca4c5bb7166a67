import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useQuery } from 'urql'
import { client } from '../../../graphql/client.ts'
import { Refused } from '../../../graphql/errors.ts'
import type { ResultOf } from '../../../graphql/graphql.ts'
import { Button } from '../../../parts/button.tsx'
import { SelectField, TextField } from '../../../parts/form.tsx'
import { Search, X } from '../../../parts/icons.ts'
import { personName } from '../../../parts/person-name.ts'
import { useTask } from '../../../parts/use-task.ts'
import { PEOPLE, PERSON } from './documents.ts'
import { type Kind, kinds } from './kinds.ts'
import { type AuditSearch, readSearch } from './search.ts'
import { text } from './text.ts'

type Account = ResultOf<typeof PEOPLE>['operator']['accounts']['nodes'][number]

const uuid = /^(account:)?([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i
const idOf = (account: string) => account.replace(/^account:/, '')

/** Accounts that match the typed text. A complete address matches one account. */
async function accountsLike(typed: string): Promise<readonly Account[]> {
  const { data, error } = await client
    .query(PEOPLE, { search: typed }, { requestPolicy: 'network-only' })
    .toPromise()
  if (error) throw new Refused(error)
  const found = data?.operator.accounts.nodes ?? []
  const exact = found.filter(({ email }) => email.toLowerCase() === typed.toLowerCase())
  return exact.length === 1 ? exact : found
}

/** The filters of the audit trail. */
export function Filters({ search }: { search: AuditSearch }) {
  const navigate = useNavigate()
  const form = useRef<HTMLFormElement>(null)
  const { problem, run } = useTask()
  const [meant, setMeant] = useState<readonly Account[]>([])
  const shown = usePersonText(search.person)

  const show = (person: string | undefined) => {
    const { person: _typed, ...typed } = Object.fromEntries(new FormData(form.current ?? undefined))
    return navigate({ to: '/admin/audit', search: readSearch({ ...typed, person }) })
  }

  const submit = () =>
    run(async () => {
      const typed = String(new FormData(form.current ?? undefined).get('person')).trim()
      setMeant([])
      if (typed === '') return show(undefined)
      if (typed === shown) return show(search.person)
      const [, , id] = uuid.exec(typed) ?? []
      // The account may have been deleted.
      if (id) return show(id.toLowerCase())
      const found = await accountsLike(typed)
      const [only, ...others] = found
      if (!only) throw new Error(text('unknownPerson', { name: typed }))
      if (others.length > 0) return setMeant(found)
      return show(idOf(only.id))
    })

  return (
    <form
      ref={form}
      className="audit-filters"
      role="search"
      aria-label={text('filters')}
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
    >
      <TextField
        key={shown}
        name="person"
        label={text('person')}
        hint={text('personHint')}
        defaultValue={shown}
        maxLength={254}
        dir="auto"
      />
      <SelectField
        name="kind"
        label={text('kind')}
        defaultValue={search.kind ?? ''}
        options={[['', text('allKinds')], ...(Object.entries(kinds) as [Kind, string][])]}
      />
      {/* Collapsed, so that the first entries are visible. */}
      <details
        className="audit-more"
        open={Object.keys(search).some(name => name !== 'person' && name !== 'kind')}
      >
        <summary>{text('moreFilters')}</summary>
        <div className="audit-filters">
          <TextField
            name="since"
            type="datetime-local"
            label={text('since')}
            defaultValue={search.since}
          />
          <TextField
            name="until"
            type="datetime-local"
            label={text('until')}
            defaultValue={search.until}
          />
          <TextField
            name="address"
            label={text('address')}
            defaultValue={search.address}
            maxLength={64}
            dir="ltr"
          />
          <TextField
            name="credential"
            label={text('credential')}
            defaultValue={search.credential}
            maxLength={36}
            dir="ltr"
          />
          <TextField
            name="about"
            label={text('about')}
            hint={text('aboutHint')}
            defaultValue={search.about}
            maxLength={44}
            dir="ltr"
          />
        </div>
      </details>
      <div className="audit-buttons">
        <Button type="submit" look="primary">
          <Search />
          {text('find')}
        </Button>
        {Object.keys(search).length > 0 && (
          <Button onPress={() => void navigate({ to: '/admin/audit', search: {} })}>
            <X />
            {text('clear')}
          </Button>
        )}
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {meant.length > 0 && (
        <fieldset className="audit-meant">
          <legend>{text('whom')}</legend>
          {meant.map(account => (
            <Button key={account.id} onPress={() => void show(idOf(account.id))}>
              <bdi>{personName(account)}</bdi>{' '}
              <bdi className="soft">{account.name ? account.email : ''}</bdi>
            </Button>
          ))}
        </fieldset>
      )}
    </form>
  )
}

/**
 * The text of the person field for the id in the URL: the email address, or the id of a deleted
 * account.
 */
function usePersonText(id: string | undefined): string {
  const [{ data }] = useQuery({
    query: PERSON,
    variables: { id: `account:${id}` },
    pause: id === undefined,
  })
  if (id === undefined) return ''
  return data?.node?.__typename === 'Account' ? data.node.email : id
}
