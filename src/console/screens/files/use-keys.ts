import { useEffect } from 'react'
import { hrefOf } from '../../drive/place.ts'
import { pointOf } from '../../listing/listing.tsx'
import { undoLatest } from '../../parts/toasts.tsx'
import { forgetWanted, runOffer } from '../../shell/offers.ts'
import { clipboard } from './clipboard.ts'
import { type Commands, mayCopyTo, mayMark, mayShare, mayTake, pickFiles } from './commands.ts'
import { useNavigateUp } from './use-navigate-up.ts'

interface Key extends Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'> {
  currentTarget: Element
}

/** Whether a key only makes sense in a folder. */
export const isOfFolder = ({
  key,
  altKey,
  ctrlKey,
  metaKey,
}: Omit<Key, 'shiftKey' | 'currentTarget'>) =>
  (altKey && /^(n|u|ArrowUp)$/i.test(key)) ||
  ((ctrlKey || metaKey) && key.toLowerCase() === 'v') ||
  (key === 'Backspace' && !metaKey)

/** The keyboard shortcuts of the screen. Returns whether it used the key. */
export function useKeys(commands: Commands): (event: Key) => boolean {
  const up = useNavigateUp(commands)
  const here = hrefOf(commands.place)
  const isReadOnly = commands.drive?.canWrite === false
  useEffect(() => () => forgetWanted(here), [here])
  useEffect(() => {
    if (isReadOnly) forgetWanted(here)
  }, [isReadOnly, here])
  return event => {
    const {
      selected,
      selection,
      drive,
      act,
      place,
      setOpen,
      startRename,
      setSearch,
      search,
      setMenu,
    } = commands
    const [first] = selected
    const isCommand = event.ctrlKey || event.metaKey
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const canWrite = Boolean(drive?.canWrite)

    const run = (): boolean | undefined => {
      if (isCommand) {
        if (key === 'x' && canWrite && first) act(actions => actions.take(selected, 'move'))
        // Selected text is copied as usual.
        else if (key === 'c' && first && mayTake(drive) && getSelection()?.isCollapsed !== false)
          act(actions => actions.take(selected, 'copy'))
        else if (key === 'v' && canWrite && clipboard.get())
          act(actions => actions.paste(place.path))
        else if (key === 'z') return undoLatest()
        else return false
        return true
      }
      if (event.altKey) {
        if (key === 'ArrowUp') return up()
        if (key === 'Enter' && !drive?.share)
          setSearch({ details: search.details ? undefined : true })
        else if (key === 'n' && canWrite) setOpen('new-folder')
        else if (key === 'u' && canWrite) pickFiles(commands)
        // Until the permissions are known, the shortcut waits.
        else if (!drive && (key === 'n' || key === 'u'))
          runOffer(key === 'n' ? 'new' : 'upload', here)
        else if (key === 'm' && canWrite && first) setOpen('picker')
        else if (key === 'c' && mayCopyTo(drive) && first) setOpen('copy-picker')
        else if (key === 't' && canWrite && !drive?.share && first) setOpen('tags')
        else if (key === 'b' && first && mayMark(drive))
          act(actions =>
            actions.mark(
              selected,
              selected.some(({ isFavourite }) => !isFavourite),
            ),
          )
        else if (key === 's' && mayShare(drive, selected)) setOpen('share')
        else return false
        return true
      }
      if (key === 'F2' && canWrite && first && selected.length === 1) startRename(first)
      else if (
        (key === 'Delete' || (key === 'Backspace' && event.metaKey)) &&
        drive?.canDelete &&
        first
      )
        commands.remove(selected)
      else if (key === 'Backspace') return up()
      else if (key === 'ContextMenu' || (key === 'F10' && event.shiftKey)) {
        setMenu({ at: pointOf(selection, event.currentTarget), entries: selected })
      } else return false
      return true
    }
    return run() ?? false
  }
}
