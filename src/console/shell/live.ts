import { useRouter } from '@tanstack/react-router'
import { useSubscription } from 'urql'
import { graphql } from '../graphql/graphql.ts'
import { ask } from '../graphql/run.ts'
import { useSeen } from '../graphql/seen.ts'
import { useRecent } from '../palette/recent.ts'
import { personName } from '../parts/person-name.ts'
import { toast } from '../parts/toasts.tsx'
import { ME } from './me.ts'
import { text } from './text.ts'

const RECEIVED = graphql(`
  subscription ShareReceived {
    shareReceived {
      id
      fileName
      sharedBy {
        id
        name
        email
      }
    }
  }
`)

/**
 * Wherever the person is: hears of what others share with them, and remembers where they have been.
 * The cache knows which lists an event changes.
 */
export function Live({ person }: { person: string }) {
  useRecent(person)
  const { navigate } = useRouter()
  // Where it cannot be asked, the screens say so.
  const isSeen = useSeen(() => void ask(ME, {}).catch(() => {}))
  useSubscription({ query: RECEIVED, pause: !isSeen }, (_, data) => {
    const { fileName, sharedBy } = data.shareReceived
    // This is called while React draws.
    queueMicrotask(() =>
      toast({
        message: text('received', { who: personName(sharedBy), name: fileName }),
        action: { label: text('show'), run: () => void navigate({ to: '/shared' }) },
      }),
    )
    return data
  })
  return null
}
