import { useRef, useState } from 'react'
import { copiesOf, sayCopied } from '../../drive/copied.ts'
import { OPEN_SHARE, SAVE_SHARED } from '../../drive/shared.ts'
import { Refused } from '../../graphql/errors.ts'
import { mutate } from '../../graphql/run.ts'
import { toastError } from '../../parts/toasts.tsx'
import { nameOf } from '../../sharing/facts.ts'
import { MARK_SEEN, type ReceivedShare } from './documents.ts'
import { text } from './text.ts'

/**
 * To look at it, to save it on the person's machine, or to copy it into a folder, which is called
 * so, of a drive of theirs.
 */
export type Purpose = 'look' | 'save' | { drive: string; folder: string; name: string }

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
export function useOpening(
  onOpen: (share: ReceivedShare, purpose: 'look' | 'save', url: string) => void,
) {
  const [locked, setLocked] = useState<Locked | null>(null)
  const isBusy = useRef(false)

  /** Answers what is to be shown then. */
  async function use(
    { share, purpose }: Locked,
    password: string | null,
  ): Promise<(() => void) | null> {
    const { token } = share
    if (typeof purpose === 'object') {
      const { drive, folder: path, name: folder } = purpose
      const input = {
        token,
        password,
        to: { at: { drive, path } },
        onConflict: 'KEEP_BOTH' as const,
      }
      const { saveSharedEntries: saved } = await mutate(SAVE_SHARED, { input })
      const said = text('kept', { name: nameOf(share), folder })
      const keep = async () => {
        const copies = await copiesOf(saved)
        if (copies) sayCopied(said, copies)
      }
      return () => void keep().catch(toastError)
    }
    const { openShare } = await mutate(OPEN_SHARE, {
      input: { token, disposition: dispositions[purpose], password },
    })
    return openShare && (() => onOpen(share, purpose, openShare.download.url))
  }

  async function unlock(given: Locked, password: string | null): Promise<void> {
    const { share } = given
    const show = await use(given, password)
    setLocked(null)
    if (!show) return
    show()
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
