import { type DragEvent, useMemo, useRef } from 'react'
import type { Selection } from '../../listing/selection.ts'
import type { Act } from './act.ts'
import type { Entry } from './documents.ts'
import { text } from './text.ts'
import type { DriveHere } from './use-folder.ts'

const TYPE = 'application/x-satchel-entries'

interface Given {
  drive: DriveHere | undefined
  act: Act
  selected: readonly Entry[]
  selection: Selection
}

export interface DragAndDrop {
  start: (entry: Entry, event: DragEvent) => void
  /** Called over a folder or breadcrumb. `id` is the folder, which may itself be dragged. */
  over: (path: string, event: DragEvent, id?: string) => void
  drop: (path: string, event: DragEvent) => void
}

/**
 * Moves entries by drag and drop; Ctrl (Alt on a Mac) copies. uploads/drop-zone.tsx handles files
 * of the computer.
 */
export function useDragAndDrop(given: Given): DragAndDrop {
  const latest = useRef(given)
  latest.current = given
  const dragged = useRef<readonly Entry[]>([])

  return useMemo(
    () => ({
      start(entry, event) {
        const { selected, selection, drive } = latest.current
        if (!drive?.canWrite) return event.preventDefault()
        dragged.current = selection.ids.has(entry.id) ? selected : [entry]
        event.dataTransfer.setData(TYPE, drive.id)
        event.dataTransfer.effectAllowed = 'copyMove'
        event.dataTransfer.setDragImage(imageOf(dragged.current), -12, -8)
      },
      over(_path, event, id) {
        if (!latest.current.drive?.canWrite) return
        const isOwn = event.dataTransfer.types.includes(TYPE)
        if (!isOwn || dragged.current.some(entry => entry.id === id)) return
        event.preventDefault()
        event.stopPropagation()
        event.dataTransfer.dropEffect = isCopy(event, latest.current) ? 'copy' : 'move'
        event.currentTarget.classList.add('target')
      },
      drop(path, event) {
        event.currentTarget.classList.remove('target')
        if (!event.dataTransfer.types.includes(TYPE)) return
        event.preventDefault()
        event.stopPropagation()
        const moving = dragged.current
        const isCopied = isCopy(event, latest.current)
        latest.current.act(actions =>
          isCopied ? actions.copy(moving, path) : actions.move(moving, path),
        )
        dragged.current = []
      },
    }),
    [],
  )
}

/** Entries of a share cannot be copied by dragging. */
const isCopy = ({ ctrlKey, altKey }: DragEvent, { drive }: Given): boolean =>
  (ctrlKey || altKey) && !drive?.share

/** The drag image: the number of dragged entries. */
function imageOf(entries: readonly Entry[]): HTMLElement {
  document.querySelector('.drag-image')?.remove()
  const image = document.createElement('div')
  image.className = 'drag-image'
  image.ariaHidden = 'true'
  image.textContent =
    entries.length === 1 ? (entries[0]?.name ?? '') : text('selected', { count: entries.length })
  document.body.append(image)
  return image
}
