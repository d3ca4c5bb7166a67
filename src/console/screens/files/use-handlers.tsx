import { useMemo, useRef } from 'react'
import { type Place, trim } from '../../drive/place.ts'
import { only, press, type Selection, toggle } from '../../listing/selection.ts'
import type { Point } from '../../parts/menu.tsx'
import type { Entry } from './documents.ts'
import type { DragAndDrop } from './drag.ts'
import type { Handlers } from './entry.tsx'
import type { Renaming } from './use-rename.ts'

interface Given {
  place: Place
  selection: Selection
  select: (next: Selection) => void
  entries: readonly Entry[]
  dnd: DragAndDrop
  openEntry: (entry: Entry) => void
  renaming: Renaming
  setMenu: (menu: { at: Point; entries: readonly Entry[] } | null) => void
  focus: () => void
}

/**
 * The event handlers of the rows. They stay the same functions as long as the list shows the same
 * kind of items, so that no row renders needlessly.
 */
export function useHandlers(given: Given): Handlers {
  const latest = useRef(given)
  latest.current = given
  const isShared = given.place.share !== undefined
  const lastPointer = useRef('mouse')

  return useMemo(
    () => ({
      press(entry, event) {
        const { selection, select, entries, openEntry, focus } = latest.current
        const { pointerType = 'mouse' } = event.nativeEvent as PointerEvent
        lastPointer.current = pointerType
        focus()
        // A tap opens an entry, as usual on phones. Once something is selected, a tap extends the
        // selection.
        if (pointerType === 'touch')
          return selection.ids.size > 0 ? select(toggle(selection, entry.id)) : openEntry(entry)
        const order = () => entries.map(({ id }) => id)
        select(press(order, selection, entry.id, event))
      },
      open(entry) {
        if (lastPointer.current !== 'touch') latest.current.openEntry(entry)
      },
      mark(entry) {
        const { selection, select, focus } = latest.current
        focus()
        select(toggle(selection, entry.id))
      },
      menu(entry, at) {
        const { selection, select, entries, setMenu } = latest.current
        const isIn = selection.ids.has(entry.id)
        if (!isIn) select(only(entry.id))
        setMenu({ at, entries: isIn ? entries.filter(({ id }) => selection.ids.has(id)) : [entry] })
      },
      dragStart: (entry, event) => latest.current.dnd.start(entry, event),
      dragOver: (entry, event) => latest.current.dnd.over(trim(entry.path), event, entry.id),
      drop: (entry, event) => latest.current.dnd.drop(trim(entry.path), event),
      type: typed => latest.current.renaming.type(typed),
      rename: entry => void latest.current.renaming.save(entry),
      keepName: () => latest.current.renaming.cancel(),
      hasThumbnails: !isShared,
    }),
    [isShared],
  )
}
