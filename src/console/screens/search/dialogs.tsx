import { lazy } from 'react'
import type { Hit } from '../../search/hit.ts'
import { text } from './text.ts'
import type { useActing } from './use-acting.ts'

const EntryDialogs = lazy(() =>
  import('../files/on-demand/entry-dialogs.tsx').then(({ EntryDialogs }) => ({
    default: EntryDialogs,
  })),
)
const Viewer = lazy(() =>
  import('../files/on-demand/viewer.tsx').then(({ Viewer }) => ({ default: Viewer })),
)
interface DialogsProps {
  acting: ReturnType<typeof useActing>
  hits: readonly Hit[]
  refresh: () => void
  /** Id of the file in the viewer. */
  shown: string | undefined
  onShow: (id: string | undefined) => void
}

/** The open dialog or viewer. */
export function Dialogs({ acting, hits, refresh, shown, onShow }: DialogsProps) {
  const { open, commands, act, removeNow, start } = acting
  const hit = hits.find(({ id }) => id === shown)
  const share = hit?.share?.token
  // The viewer steps through results with the same access.
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
      {open !== null && (
        <EntryDialogs
          commands={commands}
          open={open}
          removeNow={removeNow}
          refresh={refresh}
          folder={start}
          root={text('root')}
        />
      )}
    </>
  )
}
