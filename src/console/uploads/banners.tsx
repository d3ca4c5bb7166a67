import { useSyncExternalStore } from 'react'
import type { Snapshot } from '../../upload-engine/snapshot.ts'
import { Button } from '../parts/button.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { useMayReplace } from './may-replace.ts'
import { pick } from './pick.ts'
import { text } from './text.ts'
import { allowAgain, chooseAgain, queue, recordOf } from './uploads.ts'

/** Banners for uploads that wait for a decision, for their files or for the network. */
export function Banners({ snapshot: { uploads, total } }: { snapshot: Snapshot }) {
  const isOnline = useOnline()
  const { conflict, detached, uploading } = total.phases
  const waits = uploads.filter(({ phase }) => phase === 'detached')
  const mayReplace = useMayReplace(uploads)
  const unfitting = uploads.filter(
    ({ phase, failure }) => phase === 'failed' && failure?.code === 'QUOTA_EXCEEDED',
  )
  const isKnown = waits.some(({ id }) => recordOf(id)?.handle)
  return (
    <>
      {conflict > 0 && (
        <div className="dock-banner">
          <p>
            {text('taken', { count: conflict })} {mayReplace && text('replaceHint')}
          </p>
          <div>
            <Button onPress={() => queue.resolve('skip')}>
              {conflict === 1 ? text('skip') : text('skipAll')}
            </Button>
            {mayReplace && (
              <Button onPress={() => queue.resolve('replace')}>
                {conflict === 1 ? text('replace') : text('replaceAll')}
              </Button>
            )}
            <Button look="primary" onPress={() => queue.resolve('copy')}>
              {conflict === 1 ? text('keepBoth') : text('keepAll')}
            </Button>
          </div>
        </div>
      )}
      {detached > 0 && (
        <div className="dock-banner">
          <p>
            {isKnown
              ? text('allowWhy', { count: detached })
              : text('chooseWhy', { count: detached })}
          </p>
          <div>
            {isKnown ? (
              <Button look="primary" onPress={() => void allowAgain().catch(toastError)}>
                {text('goOn')}
              </Button>
            ) : (
              <>
                {detached > 1 && (
                  <Button onPress={() => void choose('folder')}>{text('chooseFolder')}</Button>
                )}
                <Button look="primary" onPress={() => void choose('files')}>
                  {detached === 1 ? text('chooseFile') : text('chooseFiles')}
                </Button>
              </>
            )}
          </div>
        </div>
      )}
      {unfitting.length > 0 && (
        <div className="dock-banner">
          <p>{text('unfitting', { count: unfitting.length })}</p>
          <div>
            <Button look="primary" onPress={() => queue.resume(unfitting.map(({ id }) => id))}>
              {text('retry')}
            </Button>
          </div>
        </div>
      )}
      {!isOnline && uploading > 0 && (
        <div className="dock-banner">
          <p>{text('offline')}</p>
        </div>
      )}
    </>
  )
}

/** Asks for the files of interrupted uploads again. */
export async function choose(what: 'files' | 'folder'): Promise<void> {
  try {
    const gathering = await pick(what)
    if (!gathering) return
    const strange = await chooseAgain(gathering.files)
    if (strange > 0) toast({ tone: 'error', message: text('strange', { count: strange }) })
  } catch (error) {
    toastError(error)
  }
}

function useOnline(): boolean {
  return useSyncExternalStore(
    listener => {
      window.addEventListener('online', listener)
      window.addEventListener('offline', listener)
      return () => {
        window.removeEventListener('online', listener)
        window.removeEventListener('offline', listener)
      }
    },
    () => navigator.onLine,
  )
}
