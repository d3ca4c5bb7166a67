import './sharing.css'
import { useState } from 'react'
import { useLookAgain } from '../graphql/look-again.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ShowMore } from '../parts/show-more.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { LinkForm } from './link-form.tsx'
import { PeopleForm } from './people.tsx'
import { ShareRow } from './share-row.tsx'
import { text } from './text.ts'
import { type Shares, useShares } from './use-shares.ts'

/** Polling interval, because no subscription reports the uses of a share. */
const LOOK_MS = 5000

interface Shareable {
  id: string
  name: string
}

/**
 * Shares entries with people or by link. For one entry it lists the existing shares; several become
 * one share.
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
  return (
    <>
      <section aria-labelledby="share-people">
        <h3 id="share-people">{text('people')}</h3>
        <p className="soft">{text('peopleHint')}</p>
        <Lines label={text('people')} shares={people} />
        <PeopleForm files={[file]} />
      </section>
      <section aria-labelledby="share-links">
        <h3 id="share-links">{text('links')}</h3>
        <p className="soft">{text('linksHint')}</p>
        <Lines label={text('links')} shares={links} />
        <LinkForm files={[file]} />
      </section>
    </>
  )
}

/** Shares several entries as one, and lists the shares created here. */
function OfSeveral({ files }: { files: readonly Shareable[] }) {
  const [made, setMade] = useState<readonly string[]>([])
  const id = files[0]?.id ?? ''
  const people = useShares(id, 'DIRECT')
  const links = useShares(id, 'LINK')
  useLookAgain(() => {
    people.refresh()
    links.refresh()
  }, LOOK_MS)
  const ofThese = (shares: Shares): Shares => ({
    ...shares,
    entries: shares.entries.filter(share => made.includes(share.id)),
    hasMore: false,
  })
  const onMade = (ids: string[]) => setMade(known => [...known, ...ids])
  return (
    <>
      <section aria-labelledby="share-links">
        <h3 id="share-links">{text('linkForAll')}</h3>
        <p className="soft">{text('linkForAllHint')}</p>
        <Lines label={text('linkForAll')} shares={ofThese(links)} />
        <LinkForm files={files} onMade={onMade} />
      </section>
      <section aria-labelledby="share-people">
        <h3 id="share-people">{text('people')}</h3>
        <p className="soft">{text('peopleHint')}</p>
        <Lines label={text('people')} shares={ofThese(people)} />
        <PeopleForm files={files} onMade={onMade} />
      </section>
    </>
  )
}

function Lines({ label, shares }: { label: string; shares: Shares }) {
  if (shares.entries.length === 0) return null
  return (
    <>
      <ul className="rows" aria-label={label}>
        {shares.entries.map(share => (
          <ShareRow key={share.id} share={share} />
        ))}
      </ul>
      <ShowMore {...shares} />
    </>
  )
}
