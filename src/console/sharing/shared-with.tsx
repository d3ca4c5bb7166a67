import './sharing.css'
import { Button } from '../parts/button.tsx'
import { UserRoundPlus } from '../parts/icons.ts'
import { ShowMore } from '../parts/show-more.tsx'
import { ShareRow } from './share-row.tsx'
import { text } from './text.ts'
import { useShares } from './use-shares.ts'

/** The recipients of a file or folder, for the details panel. */
export function SharedWith({ file, onShare }: { file: { id: string }; onShare: () => void }) {
  const people = useShares(file.id, 'DIRECT')
  const links = useShares(file.id, 'LINK')
  const shares = [...people.entries, ...links.entries]
  return (
    <section className="shared-with">
      {shares.length > 0 && (
        <>
          <h3>{text('sharedTitle')}</h3>
          <ul className="rows">
            {shares.map(share => (
              <ShareRow key={share.id} share={share} />
            ))}
          </ul>
          <ShowMore {...(people.hasMore ? people : links)} />
        </>
      )}
      <Button onPress={onShare}>
        <UserRoundPlus />
        {text('shareThis')}
      </Button>
    </section>
  )
}
