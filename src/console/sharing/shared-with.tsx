import './sharing.css'
import { UserRoundPlus } from 'lucide-react'
import { useKeptQuery } from '../graphql/kept.ts'
import { Button } from '../parts/button.tsx'
import { SHARES_OF } from './documents.ts'
import { ShareRow } from './share-row.tsx'
import { text } from './text.ts'

/** With whom a file is shared, in its details. */
export function SharedWith({ file, onShare }: { file: { id: string }; onShare: () => void }) {
  const [{ data }] = useKeptQuery({
    query: SHARES_OF,
    variables: { id: file.id },
    requestPolicy: 'cache-and-network',
  })
  const shares = data?.node?.__typename === 'File' ? (data.node.shares?.nodes ?? []) : []
  return (
    <section className="shared-with">
      {shares.length > 0 && (
        <>
          <h3>{text('sharedTitle')}</h3>
          <ul className="rows">
            {shares.toReversed().map(share => (
              <ShareRow key={share.id} share={share} />
            ))}
          </ul>
        </>
      )}
      <Button onPress={onShare}>
        <UserRoundPlus />
        {text('shareThis')}
      </Button>
    </section>
  )
}
