import { lazy } from 'react'
import type { Hit } from '../../search/hit.ts'
import { text } from './text.ts'
import type { useActing } from './use-acting.ts'

const Picker = lazy(() => import('../../drive/picker.tsx').then(({ Picker }) => ({ default: Picker })))
const ShareSheet = lazy(() => import('../../sharing/sheet.tsx').then(({ ShareSheet }) => ({ default: ShareSheet })))
const Tags = lazy(() => import('../../tags/dialogs.tsx').then(({ Tags }) => ({ default: Tags })))
const Viewer = lazy(() => import('../files/on-demand/viewer.tsx').then(({ Viewer }) => ({ default: Viewer })))
const DeleteForEver = lazy(() =>
  import('../files/on-demand/dialogs.tsx').then(({ DeleteForEver }) => ({ default: DeleteForEver })),
)

interface DialogsProps {
  acting: ReturnType<typeof useActing>
  selected: readonly Hit[]
  hits: readonly Hit[]
  refresh: () => void
  /** The id of the file that is shown large. */
  shown: string | undefined
  onShow: (id: string | undefined) => void
}

/** What is open over the results. */
export function Dialogs({ acting, selected, hits, refresh, shown, onShow }: DialogsProps) {
  const { open, setOpen, drive, act, removeNow, start } = acting
  const close = () => setOpen(null)
  const hit = hits.find(({ id }) => id === shown)
  const share = hit?.share?.token
  // Before and after it come the others that are seen in the same way.
  const beside = hits.filter(one => one.share?.token === share)
  return (
    <>
      {shown !== undefined && (hit || !shown.includes('.')) && (
        <Viewer
          id={shown}
          entries={beside}
          share={share}
          onShow={onShow}
          onDownload={entry => act(actions => actions.download([entry]))}
          onClose={() => onShow(undefined)}
        />
      )}
      {(open === 'picker' || open === 'copy-picker') && drive && (
        <Picker
          drive={open === 'picker' ? drive.id : (drive.share?.ownDrive ?? drive.id)}
          title={text(open === 'picker' ? 'moveCount' : 'copyCount', { count: selected.length })}
          label={text(open === 'picker' ? 'moveHere' : 'copyHere')}
          root={text('root')}
          start={open === 'picker' || !drive.share ? start : ''}
          share={open === 'picker' ? drive.share?.token : undefined}
          moving={selected}
          copies={open === 'copy-picker'}
          anyDrive={open === 'copy-picker'}
          onPick={(to, into, name) =>
            act(actions => (open === 'picker' ? actions.move(selected, to) : actions.copy(selected, to, into, name)))
          }
          onClose={close}
        />
      )}
      {open === 'share' && <ShareSheet files={selected} onClose={close} />}
      {open === 'tags' && drive && (
        <Tags {...{ drive: drive.id, entries: selected, isOfDrive: false, onChange: refresh }} onClose={close} />
      )}
      {open === 'delete' && (
        <DeleteForEver count={selected.length} owner={drive?.share?.owner} onConfirm={removeNow} onClose={close} />
      )}
    </>
  )
}
