import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useQuery, useSubscription } from 'urql'
import { graphql } from '../graphql/graphql.ts'
import { ask } from '../graphql/run.ts'
import { useSeen } from '../graphql/seen.ts'
import { useRecent } from '../palette/recent.ts'
import { personName } from '../parts/person-name.ts'
import { toast } from '../parts/toasts.tsx'
import { applyView, FILES_VIEW, sendView } from '../screens/files/on-demand/view.ts'
import { chosen } from '../screens/files/view.ts'
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
 * Active on every screen: announces new shares from others, and remembers visited folders. The
 * cache updates the affected lists.
 */
export function Live({ person }: { person: string }) {
  useRecent(person)
  const [{ data: viewed }] = useQuery({ query: FILES_VIEW, requestPolicy: 'network-only' })
  useEffect(() => {
    if (viewed) applyView(viewed.me)
  }, [viewed])
  const view = chosen.use()
  useEffect(() => {
    if (view) void sendView(view)
  }, [view])
  const { navigate } = useRouter()
  // If this fails, the screens show the error.
  const isSeen = useSeen(() => void ask(ME, {}).catch(() => {}))
  useSubscription({ query: RECEIVED, pause: !isSeen }, (_, data) => {
    const { fileName, sharedBy } = data.shareReceived
    // React may be rendering when this runs.
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
