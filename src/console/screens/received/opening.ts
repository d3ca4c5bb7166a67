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
 * Why a share is opened: to view it, to download it, or to copy it to a folder (with its display
 * name) of one of the person's drives.
 */
export type Purpose = 'look' | 'save' | { drive: string; folder: string; name: string }

/** A share that needs a password before it opens. */
export interface Locked {
  share: ReceivedShare
  purpose: Purpose
}

const dispositions = { look: 'INLINE', save: 'ATTACHMENT' } as const

/**
 * Opens received shares, and asks for passwords.
 *
 * @param onOpen gets a signed URL of the content
 */
export function useOpening(
  onOpen: (share: ReceivedShare, purpose: 'look' | 'save', url: string) => void,
) {
  const [locked, setLocked] = useState<Locked | null>(null)
  const isBusy = useRef(false)

  /** Returns what to show next. */
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
    // The share is open, whatever happens next. If this request fails, the share stays new until it
    // is opened again.
    if (!share.seen) mutate(MARK_SEEN, { input: { share: { id: share.id } } }).catch(() => {})
  }

  async function open(share: ReceivedShare, purpose: Purpose): Promise<void> {
    if (share.passwordProtected) return setLocked({ share, purpose })
    if (isBusy.current) return
    isBusy.current = true
    try {
      await unlock({ share, purpose }, null)
    } catch (error) {
      // A password was added after the list was loaded.
      if (error instanceof Refused && error.code === 'WRONG_PASSWORD') setLocked({ share, purpose })
      else toastError(error)
    } finally {
      isBusy.current = false
    }
  }

  return { locked, open, unlock, cancel: () => setLocked(null) }
}
