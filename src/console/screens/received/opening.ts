import { useRef, useState } from 'react'
import { Refused } from '../../graphql/errors.ts'
import { mutate } from '../../graphql/run.ts'
import { toastError } from '../../parts/toasts.tsx'
import { MARK_SEEN, OPEN_SHARE, type ReceivedShare } from './documents.ts'

export type Purpose = 'look' | 'save'

/** A share that is to be opened once its password is known. */
export interface Locked {
  share: ReceivedShare
  purpose: Purpose
}

const dispositions = { look: 'INLINE', save: 'ATTACHMENT' } as const

/**
 * Opens received shares, and asks for the password of those that have one.
 * @param onOpen with a signed address of the bytes
 */
export function useOpening(onOpen: (share: ReceivedShare, purpose: Purpose, url: string) => void) {
  const [locked, setLocked] = useState<Locked | null>(null)
  const isBusy = useRef(false)

  async function unlock({ share, purpose }: Locked, password: string | null): Promise<void> {
    const input = { token: share.token, disposition: dispositions[purpose], password }
    const { openShare } = await mutate(OPEN_SHARE, { input })
    setLocked(null)
    if (!openShare) return
    onOpen(share, purpose, openShare.download.url)
    // It is open now, whatever comes of this: what is still new is marked when it is opened again.
    if (!share.seen) mutate(MARK_SEEN, { input: { share: { id: share.id } } }).catch(() => {})
  }

  async function open(share: ReceivedShare, purpose: Purpose): Promise<void> {
    if (share.passwordProtected) return setLocked({ share, purpose })
    if (isBusy.current) return
    isBusy.current = true
    try {
      await unlock({ share, purpose }, null)
    } catch (error) {
      // It has been given a password since the list was read.
      if (error instanceof Refused && error.code === 'WRONG_PASSWORD') setLocked({ share, purpose })
      else toastError(error)
    } finally {
      isBusy.current = false
    }
  }

  return { locked, open, unlock, cancel: () => setLocked(null) }
}
