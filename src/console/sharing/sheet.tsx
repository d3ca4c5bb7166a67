import './sharing.css'
import { useState } from 'react'
import { useKeptQuery } from '../graphql/kept.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { SHARES_OF, type Share } from './documents.ts'
import { LinkForm } from './link-form.tsx'
import { PeopleForm } from './people.tsx'
import { ShareRow } from './share-row.tsx'
import { text } from './text.ts'

type DirectShare = Extract<Share, { __typename: 'DirectShare' }>

interface Shareable {
  id: string
  name: string
}

/** Shares files: one with people and by links, with what has been shared of it so far; several with people. */
export function ShareSheet({ files, onClose }: { files: readonly Shareable[]; onClose: () => void }) {
  const [first] = files
  const isOne = files.length === 1 && first !== undefined
  const title = isOne ? text('share', { name: first.name }) : text('shareMany', { count: files.length })
  return (
    <Dialog title={title} isOpen onClose={onClose} size="side">
      {isOne ? <OfOne file={first} /> : <PeopleForm files={files} />}
    </Dialog>
  )
}

function OfOne({ file }: { file: Shareable }) {
  const [{ data, error }, again] = useKeptQuery({
    query: SHARES_OF,
    variables: { id: file.id },
    requestPolicy: 'cache-and-network',
  })
  const [renewing, setRenewing] = useState<DirectShare | null>(null)
  if (error) return <ErrorState error={error} retry={() => again({ requestPolicy: 'network-only' })} />
  const node = data?.node?.__typename === 'File' ? data.node : undefined
  if (!node) return data ? <p>{text('gone')}</p> : <Skeleton rows={6} />
  // The last made is what one looks for.
  const shares = node.shares?.nodes.toReversed() ?? []
  const people = shares.filter(share => share.__typename === 'DirectShare')
  const links = shares.filter(({ __typename }) => __typename === 'LinkShare')
  return (
    <>
      <section aria-labelledby="share-people">
        <h3 id="share-people">{text('people')}</h3>
        <p className="soft">{text('peopleHint')}</p>
        {people.length > 0 && (
          <ul className="rows" aria-label={text('people')}>
            {people.map(share => (
              <ShareRow key={share.id} share={share} onRenew={() => setRenewing(share)} />
            ))}
          </ul>
        )}
        <PeopleForm
          key={renewing?.id}
          files={[file]}
          recipient={renewing?.recipient}
          isProtected={renewing?.passwordProtected}
          onShared={() => setRenewing(null)}
        />
      </section>
      <section aria-labelledby="share-links">
        <h3 id="share-links">{text('links')}</h3>
        <p className="soft">{text('linksHint')}</p>
        {links.length > 0 && (
          <ul className="rows" aria-label={text('links')}>
            {links.map(share => (
              <ShareRow key={share.id} share={share} />
            ))}
          </ul>
        )}
        <LinkForm file={file} />
      </section>
    </>
  )
}
