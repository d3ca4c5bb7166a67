import { Link } from '@tanstack/react-router'
import { useQuery } from 'urql'
import { hrefOf, parentOf, trim } from '../drive/place.ts'
import { formatBytes } from '../i18n/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { ENTRIES_OF, type Share } from './documents.ts'
import { nameOf } from './facts.ts'

/** The entries of a share of several, with links to their folders. */
export function Entries({ share, onClose }: { share: Share; onClose: () => void }) {
  const [{ data, error }, again] = useQuery({
    query: ENTRIES_OF,
    variables: { id: share.id },
    requestPolicy: 'cache-and-network',
  })
  const node = data?.node
  const entries = node && 'entries' in node ? (node.entries ?? []) : null
  return (
    <Dialog title={nameOf(share)} isOpen onClose={onClose}>
      {error && !entries && (
        <ErrorState error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {!error && !entries && <Skeleton rows={share.entryCount} />}
      {entries && (
        <ul className="rows" aria-label={nameOf(share)}>
          {entries.map(({ id, name, path, size, drive: { owner }, ...entry }) => {
            const workspace = owner.__typename === 'Workspace' ? owner.slug : null
            const folder = parentOf(trim(path))
            return (
              <li key={id} className="share-row">
                <EntryIcon contentType={'contentType' in entry ? entry.contentType : null} />
                <div className="grow">
                  <div className="share-name">
                    <Link
                      to={hrefOf({ workspace, path: folder })}
                      search={{ sel: id } as never}
                      className="link"
                      dir="auto"
                      onClick={onClose}
                    >
                      {name}
                    </Link>
                  </div>
                  <div className="facts-line soft">
                    <span>{formatBytes(size)}</span>
                    {folder !== '' && <span dir="auto">{folder}</span>}
                  </div>
                </div>
              </li>
            )
          })}
        </ul>
      )}
    </Dialog>
  )
}
