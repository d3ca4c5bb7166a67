import './sharing.css'
import { useLookAgain } from '../graphql/look-again.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ShowMore } from '../parts/show-more.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { ShareForm } from './share-form.tsx'
import { ShareRow } from './share-row.tsx'
import { text } from './text.ts'
import { type Shares, useShares, useSharesAmong } from './use-shares.ts'

/** Polling interval, because no subscription reports the uses of a share. */
const LOOK_MS = 5000

interface Shareable {
  id: string
  name: string
}

/**
 * Lists the shares of entries, and shares them with people or by link. Several entries become one
 * share.
 */
export function ShareSheet({
  files,
  onClose,
}: {
  files: readonly Shareable[]
  onClose: () => void
}) {
  const [first] = files
  const isOne = files.length === 1 && first !== undefined
  const title = isOne
    ? text('share', { name: first.name })
    : text('shareMany', { count: files.length })
  return (
    <Dialog title={title} isOpen onClose={onClose} size="side">
      {isOne ? <OfOne file={first} /> : <OfSeveral files={files} />}
    </Dialog>
  )
}

function OfOne({ file }: { file: Shareable }) {
  const people = useShares(file.id, 'DIRECT')
  const links = useShares(file.id, 'LINK')
  return <Body files={[file]} people={people} links={links} />
}

/** Lists every share that contains one of the entries. */
function OfSeveral({ files }: { files: readonly Shareable[] }) {
  const ids = files.map(({ id }) => id)
  const people = useSharesAmong(ids, 'DIRECT')
  const links = useSharesAmong(ids, 'LINK')
  return <Body files={files} people={people} links={links} />
}

interface BodyProps {
  files: readonly Shareable[]
  people: Shares
  links: Shares
}

function Body({ files, people, links }: BodyProps) {
  const again = () => {
    people.refresh()
    links.refresh()
  }
  useLookAgain(again, LOOK_MS)
  if (people.isGone || links.isGone) return <p>{text('gone')}</p>
  if (!people.data || !links.data) {
    const error = people.error ?? links.error
    return error ? <ErrorState error={error} retry={again} /> : <Skeleton rows={6} />
  }
  const isSeveral = files.length > 1
  const isShared = people.entries.length + links.entries.length > 0
  return (
    <>
      {isShared && (
        <section aria-labelledby="share-existing">
          <h3 id="share-existing">{text('sharedTitle')}</h3>
          <Lines label={text('people')} shares={people} hasNames={isSeveral} />
          <Lines label={text('links')} shares={links} hasNames={isSeveral} />
        </section>
      )}
      <section aria-labelledby={isShared ? 'share-new' : undefined}>
        {isShared && <h3 id="share-new">{text('newShare')}</h3>}
        <ShareForm files={files} onMade={isSeveral ? again : undefined} />
      </section>
    </>
  )
}

function Lines({ label, shares, hasNames }: { label: string; shares: Shares; hasNames: boolean }) {
  if (shares.entries.length === 0) return null
  return (
    <>
      <ul className="rows" aria-label={label}>
        {shares.entries.map(share => (
          <ShareRow key={share.id} share={share} hasName={hasNames} />
        ))}
      </ul>
      <ShowMore {...shares} />
    </>
  )
}
