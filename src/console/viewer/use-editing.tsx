import { lazy, type ReactNode, Suspense, useRef, useState } from 'react'
import { isText, kindOf, type NamedFile } from '../../formats/viewer.ts'
import { hasUnsaved } from '../edit/open.ts'
import type { TextPlace } from '../edit/place.ts'
import type { Leave } from '../edit/text-editor.tsx'
import { Button } from '../parts/button.tsx'
import { FilePen } from '../parts/icons.ts'
import { optional } from '../parts/optional.tsx'
import { text } from './text.ts'

const TextEditor = lazy(() => import('../edit/text-editor.tsx'))
/** Without this part, the draft is offered in the editor. */
const DraftOffer = optional(
  () => import('../edit/offer.tsx').then(({ default: DraftOffer }) => DraftOffer),
  () => null,
)

interface Editing {
  /** Where the text is stored; undefined if the person may not edit the file. */
  place: TextPlace | undefined
  file: NamedFile | undefined
  isOn: boolean
  turn: (isOn: boolean) => void
  onSaved: () => void
}

/** Editing the text of the file in the viewer. */
export function useEditing({ place, file, isOn, turn, onSaved }: Editing) {
  const leave = useRef<Leave | null>(null)
  const [wasOn, setWasOn] = useState(false)
  // A text with unsaved changes stays open, whatever happens to its file and to the rights.
  const opened = useRef<{ place: TextPlace; file: NamedFile }>(undefined)
  const unsaved = hasUnsaved.use()
  if (place && file && !(isOn && unsaved)) opened.current = { place, file }
  const edited = isOn ? opened.current : undefined
  const kind = edited && kindOf(edited.file)
  const end = () => {
    setWasOn(true)
    turn(false)
  }
  const editor: ReactNode = edited && isText(kind) && (
    <Suspense fallback={<div className="preview none" />}>
      <TextEditor
        key={edited.place.key}
        place={edited.place}
        kind={kind}
        name={edited.file.name}
        leave={leave}
        onSaved={onSaved}
        onEnd={end}
      />
    </Suspense>
  )
  return {
    /** The editor; undefined while the file is only shown. */
    editor: editor || undefined,
    /** The file that is edited. */
    edited: edited?.file,
    button: place && !edited && (
      <Button
        look="icon"
        aria-label={text('edit')}
        // The focus returns from the editor.
        autoFocus={wasOn}
        onPress={() => turn(true)}
      >
        <FilePen />
      </Button>
    ),
    notice: place && !edited && (
      <DraftOffer key={place.key} of={place.key} onEdit={() => turn(true)} />
    ),
    /** Leaves the viewer, or only the editor. Asks what happens to unsaved changes. */
    leaveFor: (then: () => void) => (edited && leave.current ? leave.current(then) : then()),
    onEscape: edited && (() => (leave.current ? leave.current(end) : end())),
  }
}
