import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import type { Restoring } from './actions.ts'
import { text } from './text.ts'

interface Asks {
  onConfirm: () => void
  onClose: () => void
}

/** Asks before deleting items permanently. */
export const DeleteForEver = ({ count, name, ...asks }: Asks & { count: number; name: string }) => (
  <Confirm {...asks} isOpen title={text('deleteTitle', { count })} label={text('deleteForEver')}>
    <p>{text('deleteHint', { count, name })}</p>
  </Confirm>
)

/** Asks before emptying the trash. */
export const Empty = (asks: Asks) => (
  <Confirm {...asks} isOpen title={text('emptyTitle')} label={text('empty')}>
    <p>{text('emptyHint')}</p>
  </Confirm>
)

interface TakenProps {
  restoring: Restoring
  /** Whether the entry with the same name may go to the trash. */
  mayReplace: boolean
  onRestore: (restoring: Restoring) => void
  onClose: () => void
}

/** Asks what to do about an entry that has the name of a restored item. */
export function Taken({ restoring, mayReplace, onRestore, onClose }: TakenProps) {
  const { items } = restoring
  const choose = (onConflict: Restoring['onConflict']) => {
    onClose()
    onRestore({ ...restoring, onConflict })
  }
  return (
    <Dialog
      title={text('takenTitle')}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{text('cancel')}</Button>
          {mayReplace && <Button onPress={() => choose('REPLACE')}>{text('replace')}</Button>}
          <Button look="primary" onPress={() => choose('KEEP_BOTH')}>
            {text('keepBoth')}
          </Button>
        </>
      }
    >
      <p>{text('takenHint', { count: items.length, name: items[0]?.name ?? '' })}</p>
      {mayReplace && <p className="soft">{text('replaceHint')}</p>}
    </Dialog>
  )
}
