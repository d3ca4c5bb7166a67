import './uploads.css'
import { useEffect, useMemo } from 'react'
import { ArrivedDialog } from './arrived-dialog.tsx'
import { Dock } from './dock.tsx'
import { DropZone } from './drop-zone.tsx'
import { useShownPlace } from './place.ts'
import { text } from './text.ts'
import { TightDialog } from './tight-dialog.tsx'
import { queue, recordOf, restore } from './uploads.ts'

/** Whether a reload would interrupt uploads that cannot resume. */
const wouldLose = () =>
  queue
    .snapshot()
    .uploads.some(
      ({ id, phase }) =>
        ['waiting', 'uploading', 'checking'].includes(phase) && !isKept(recordOf(id)),
    )

const isKept = (record: ReturnType<typeof recordOf>) =>
  record?.handle !== undefined || record?.arrived !== undefined

/**
 * The person's uploads, on every screen.
 *
 * @param drive id of their own drive
 */
export function Uploads({ person, drive }: { person: string; drive: string }) {
  const shown = useShownPlace()
  const own = useMemo(() => ({ drive, folder: '', label: text('root'), mayUpload: true }), [drive])

  useEffect(() => void restore(person), [person])

  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (wouldLose()) event.preventDefault()
    }
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])

  return (
    <>
      <DropZone place={shown ?? own} />
      <Dock />
      <TightDialog />
      <ArrivedDialog drive={drive} />
    </>
  )
}
