import { type RefObject, useEffect, useRef } from 'react'
import { type LineBreak, lineBreakOf } from '../../documents/plain-text.ts'
import { formatMoment } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { compare } from './compare.ts'
import { type EditedText, textOf } from './editor.ts'
import type { Stored } from './session.ts'
import { text } from './text.ts'

interface ConflictProps {
  theirs: Stored
  mine: EditedText
  isShared: boolean
  isSaving: boolean
  lineBreak: LineBreak
  /** Receives a function that returns the own text, which can be edited here. */
  current: RefObject<(() => string) | undefined>
  onChange: () => void
  onMine: () => void
  onTheirs: () => void
  onCopy: () => void
}

/** Shows the text that somebody else has saved beside the own text, and asks which to keep. */
export default function Conflict(props: ConflictProps) {
  const { theirs, mine, isShared, isSaving, lineBreak, current, onMine, onTheirs, onCopy } = props
  const change = useRef(props.onChange)
  change.current = props.onChange
  const { updatedAt, keepsVersions } = theirs.current
  const place = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text of the others is a new comparison
  useEffect(() => {
    if (!place.current) return
    const { kind, name } = mine
    const shown = compare(place.current, { theirs: { text: theirs.text, kind, name }, mine }, () =>
      change.current(),
    )
    const ownBreak = lineBreakOf(mine.text, lineBreak)
    current.current = () => textOf(shown.mine, ownBreak)
    shown.mine.focus()
    return () => {
      current.current = undefined
      shown.end()
    }
  }, [theirs])
  const what = isShared ? 'ofOwner' : keepsVersions ? 'asVersion' : 'notKept'
  return (
    <>
      <div className="text-notice" role="alert">
        <p>
          <strong>
            {updatedAt
              ? text('changedAt', { when: formatMoment(updatedAt) })
              : text('changedByOthers')}
          </strong>{' '}
          {text(what)}
        </p>
        <span>
          <Button isDisabled={isSaving} onPress={onTheirs}>
            {text('useTheirs')}
          </Button>
          <Button isDisabled={isSaving} onPress={onCopy}>
            {text('saveCopy')}
          </Button>
          <Button look="primary" isDisabled={isSaving} onPress={onMine}>
            {text('saveMine')}
          </Button>
        </span>
      </div>
      <div className="text-sides" aria-hidden>
        <span>{text('theirs')}</span>
        <span>{text('mine')}</span>
      </div>
      <div className="text-place" ref={place} />
    </>
  )
}
