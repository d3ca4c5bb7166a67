import { useEffect, useState } from 'react'
import { Upload } from '../parts/icons.ts'
import { toast, toastError } from '../parts/toasts.tsx'
import { add } from './add.ts'
import { hasFiles } from './files-dragged.ts'
import { fromTransfer } from './gather.ts'
import type { Place } from './place.ts'
import { text } from './text.ts'

const isEditable = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA'].includes(target.tagName))

/** Accepts files dropped or pasted anywhere, and shows the target folder. */
export function DropZone({ place }: { place: Place }) {
  const [isOver, setOver] = useState(false)

  useEffect(() => {
    const ends = new AbortController()
    const { signal } = ends

    function take(transfer: DataTransfer): void {
      if (!place.mayUpload) return void toast({ tone: 'error', message: text('mayNotUpload') })
      fromTransfer(transfer)
        .then(gathering => add(gathering, place))
        .catch(toastError)
    }

    window.addEventListener(
      'dragover',
      event => {
        if (!hasFiles(event.dataTransfer)) return
        setOver(true)
        event.dataTransfer.dropEffect = place.mayUpload ? 'copy' : 'none'
      },
      { signal },
    )
    window.addEventListener(
      'dragleave',
      ({ relatedTarget }) => relatedTarget === null && setOver(false),
      { signal },
    )
    window.addEventListener('drop', () => setOver(false), { signal, capture: true })
    // Elements that handle drops themselves, such as folder rows, stop the propagation.
    window.addEventListener(
      'drop',
      ({ dataTransfer }) => hasFiles(dataTransfer) && take(dataTransfer),
      { signal },
    )
    window.addEventListener(
      'paste',
      ({ clipboardData, target }) => {
        if (clipboardData && clipboardData.files.length > 0 && !isEditable(target))
          take(clipboardData)
      },
      { signal },
    )
    return () => ends.abort()
  }, [place])

  if (!isOver) return null
  return (
    <div className="drop-zone" aria-hidden>
      <div className={place.mayUpload ? 'drop-hint' : 'drop-hint refused'}>
        <Upload />
        <p dir="auto">
          {place.mayUpload ? text('dropInto', { folder: place.label }) : text('mayNotUpload')}
        </p>
      </div>
    </div>
  )
}
