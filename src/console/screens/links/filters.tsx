import { useEffect, useId, useRef, useState } from 'react'
import { useKeptQuery } from '../../graphql/kept.ts'
import { Choices } from '../../parts/choices.tsx'
import { MAX_SEARCH } from '../../parts/limits.ts'
import { RECIPIENTS } from '../../sharing/access-documents.ts'
import type { LinksSearch } from './search.ts'
import { text } from './text.ts'

const PAUSE_MS = 250

interface FiltersProps {
  search: LinksSearch
  onChange: (to: LinksSearch) => void
}

/** The filters of the list of shares. */
export function Filters({ search, onChange }: FiltersProps) {
  return (
    <div className="links-filters">
      <Find value={search.find ?? ''} onFind={find => onChange({ find: find || undefined })} />
      <WithPerson
        value={search.with ?? ''}
        onChoose={email => onChange({ with: email || undefined })}
      />
      <Choices
        label={text('kind')}
        value={search.kind ?? 'all'}
        options={{ all: text('all'), link: text('links'), direct: text('people') }}
        onChoose={kind => onChange({ kind: kind === 'all' ? undefined : kind })}
      />
      <Choices
        label={text('state')}
        value={search.ended ? 'ended' : 'active'}
        options={{ active: text('active'), ended: text('ended') }}
        onChoose={state => onChange({ ended: state === 'ended' ? true : undefined })}
      />
    </div>
  )
}

/** Searches after a short pause. */
function Find({ value, onFind }: { value: string; onFind: (typed: string) => void }) {
  const [typed, setTyped] = useState(value)
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <input
      className="input"
      type="search"
      aria-label={text('find')}
      placeholder={text('find')}
      value={typed}
      maxLength={MAX_SEARCH}
      onChange={({ target }) => {
        setTyped(target.value)
        clearTimeout(timer.current)
        timer.current = window.setTimeout(() => onFind(target.value.trim()), PAUSE_MS)
      }}
    />
  )
}

function WithPerson({ value, onChoose }: { value: string; onChoose: (email: string) => void }) {
  const id = useId()
  const [{ data }] = useKeptQuery({
    query: RECIPIENTS,
    variables: {},
    requestPolicy: 'cache-and-network',
  })
  const emails = (data?.me.shareRecipients ?? []).map(({ email }) => email)
  const offered = value === '' || emails.includes(value) ? emails : [value, ...emails]
  if (offered.length === 0) return null
  return (
    <>
      <label className="sr" htmlFor={id}>
        {text('person')}
      </label>
      <select
        id={id}
        className="input select"
        value={value}
        onChange={({ target }) => onChoose(target.value)}
      >
        <option value="">{text('anyone')}</option>
        {offered.map(email => (
          <option key={email} value={email}>
            {email}
          </option>
        ))}
      </select>
    </>
  )
}
