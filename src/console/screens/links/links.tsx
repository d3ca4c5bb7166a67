import '../../sharing/sharing.css'
import './links.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { hrefOf, parentOf, trim } from '../../drive/place.ts'
import type { ResultOf } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { usePages } from '../../graphql/use-pages.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { EntryIcon } from '../../parts/entry-icon.tsx'
import { Ban, Eye, Link2 } from '../../parts/icons.ts'
import { Rows } from '../../parts/rows.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { useTitle } from '../../parts/use-title.ts'
import { REVOKE_SHARES } from '../../sharing/access-documents.ts'
import type { Share } from '../../sharing/documents.ts'
import { nameOf } from '../../sharing/facts.ts'
import { ShareRow, whoOf } from '../../sharing/share-row.tsx'
import { MY_SHARES } from './documents.ts'
import { Filters } from './filters.tsx'
import type { LinksSearch } from './search.ts'
import { text } from './text.ts'

const AccessOf = lazy(() =>
  import('../../sharing/access-of.tsx').then(({ AccessOf }) => ({ default: AccessOf })),
)
const Entries = lazy(() =>
  import('../../sharing/entries.tsx').then(({ Entries }) => ({ default: Entries })),
)
const ShareSheet = lazy(() =>
  import('../../sharing/sheet.tsx').then(({ ShareSheet }) => ({ default: ShareSheet })),
)

type MySharesData = ResultOf<typeof MY_SHARES>
type MyShare = MySharesData['me']['shares']['nodes'][number]
type SharedEntry = NonNullable<MyShare['entry']>

const none = ['none', 'noneHint'] as const
const noneEnded = ['noneEnded', 'noneEndedHint'] as const
const noneFound = ['noneFound', 'noneFoundHint'] as const

const kinds = { link: 'LINK', direct: 'DIRECT' } as const

/** The open dialog. */
type Open =
  | { what: 'share'; entry: SharedEntry }
  | { what: 'entries'; share: Share }
  | { what: 'access'; email: string }
  | null

/** The person's own shares: recipients and use. */
export function Links() {
  const search: LinksSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  // A late search must not undo another filter.
  const change = (to: LinksSearch) =>
    void navigate({
      to: '/links',
      search: ((now: LinksSearch) => ({ ...now, ...to })) as never,
      replace: true,
    })
  useTitle(text('title'))
  return (
    <>
      <div className="screen-head">
        <h1>{text('title')}</h1>
        <Link to="/requests">{text('requests')}</Link>
        {search.with !== undefined && (
          <Button onPress={() => setOpen({ what: 'access', email: search.with ?? '' })}>
            <Eye />
            {text('accessOf', { who: search.with })}
          </Button>
        )}
      </div>
      <div className="screen-body">
        <Filters search={search} onChange={change} />
        <Shares key={JSON.stringify(search)} search={search} onOpen={setOpen} />
      </div>
      <Suspense>
        {open?.what === 'entries' && <Entries share={open.share} onClose={close} />}
        {open?.what === 'share' && <ShareSheet files={[open.entry]} onClose={close} />}
        {open?.what === 'access' && <AccessOf email={open.email} onClose={close} />}
      </Suspense>
    </>
  )
}

function Shares({ search, onOpen }: { search: LinksSearch; onOpen: (open: Open) => void }) {
  const { kind, ended = false, find, with: recipient } = search
  const listed = usePages({
    document: MY_SHARES,
    variables: {
      kind: kind ? kinds[kind] : null,
      ended,
      search: find ?? null,
      recipient: recipient ?? null,
    },
    connectionOf: (data: MySharesData | undefined) => data?.me.shares,
    first: 50,
    next: 50,
  })
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const { entries, isLoading, error, refresh } = listed
  if (error && entries.length === 0) return <ErrorState error={error} retry={refresh} />
  if (isLoading) return <Skeleton />
  if (entries.length === 0) {
    const isFiltered = find !== undefined || recipient !== undefined
    const [title, hint] = isFiltered ? noneFound : ended ? noneEnded : none
    return <EmptyState icon={Link2} title={text(title)} hint={text(hint)} />
  }
  const selected = entries.filter(({ id }) => marked.has(id))
  const mark = (id: string, isIn: boolean) =>
    setMarked(before => new Set(isIn ? [...before, id] : [...before].filter(one => one !== id)))
  return (
    <>
      <Selected
        all={entries}
        selected={selected}
        isEnded={ended}
        onMark={ids => setMarked(new Set(ids))}
        onEnded={refresh}
      />
      <Rows label={text('title')}>
        {entries.map(share => (
          <Row
            key={share.id}
            share={share}
            isMarked={marked.has(share.id)}
            onMark={isIn => mark(share.id, isIn)}
            onOpen={onOpen}
          />
        ))}
      </Rows>
      <ShowMore {...listed} />
    </>
  )
}

interface SelectedProps {
  all: readonly Share[]
  selected: readonly Share[]
  isEnded: boolean
  onMark: (ids: readonly string[]) => void
  onEnded: () => void
}

/** Selects all listed shares, and ends the selected ones. */
function Selected({ all, selected, isEnded, onMark, onEnded }: SelectedProps) {
  const [isEnding, setEnding] = useState(false)
  const count = selected.length
  const end = async () => {
    await mutate(REVOKE_SHARES, { input: { shares: selected.map(({ id }) => id) } })
    toast({ message: text(isEnded ? 'removedMany' : 'endedMany', { count }) })
    onMark([])
    onEnded()
  }
  return (
    <div className="links-selected">
      <input
        type="checkbox"
        aria-label={text('selectAll')}
        checked={count === all.length}
        ref={box => {
          if (box) box.indeterminate = count > 0 && count < all.length
        }}
        onChange={({ target }) => onMark(target.checked ? all.map(({ id }) => id) : [])}
      />
      {count === 0 && <span aria-hidden>{text('selectAll')}</span>}
      <span role="status">{count === 0 ? '' : text('selected', { count })}</span>
      {count > 0 && (
        <Button look="danger" onPress={() => setEnding(true)}>
          <Ban />
          {text(isEnded ? 'remove' : 'end')}
        </Button>
      )}
      <Confirm
        title={text(isEnded ? 'removeTitle' : 'endTitle', { count })}
        isOpen={isEnding}
        label={text(isEnded ? 'remove' : 'end')}
        onConfirm={() => void end().catch(toastError)}
        onClose={() => setEnding(false)}
      >
        <p>{text(isEnded ? 'removeWhy' : 'endWhy')}</p>
      </Confirm>
    </div>
  )
}

interface RowProps {
  share: MyShare
  isMarked: boolean
  onMark: (isIn: boolean) => void
  onOpen: (open: Open) => void
}

function Row({ share: { entry, ...share }, isMarked, onMark, onOpen }: RowProps) {
  const navigate = useNavigate()
  const show = ({ id, path, drive: { owner } }: SharedEntry) => {
    const workspace = owner.__typename === 'Workspace' ? owner.slug : null
    void navigate({
      to: hrefOf({ workspace, path: parentOf(trim(path)) }),
      search: { sel: id } as never,
    })
  }
  return (
    <ShareRow
      share={share}
      onAccess={email => onOpen({ what: 'access', email })}
      file={{
        icon: (
          <span className="share-lead">
            <input
              type="checkbox"
              aria-label={text('select', { name: nameOf(share), who: whoOf(share) })}
              checked={isMarked}
              onChange={({ target }) => onMark(target.checked)}
            />
            <EntryIcon contentType={share.entryKind === 'FOLDER' ? null : share.contentType} />
          </span>
        ),
        name: entry ? (
          <button
            type="button"
            className="link"
            dir="auto"
            title={nameOf(share)}
            onClick={() =>
              onOpen(share.entryCount > 1 ? { what: 'entries', share } : { what: 'share', entry })
            }
          >
            {nameOf(share)}
          </button>
        ) : (
          <span dir="auto">{nameOf(share)}</span>
        ),
        onShow: entry ? () => show(entry) : undefined,
      }}
    />
  )
}
