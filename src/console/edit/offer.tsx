import './edit.css'
import { useEffect, useState } from 'react'
import { formatMoment } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { type Draft, dropDraft, readDraft } from './drafts.ts'
import { text } from './text.ts'

/**
 * Offers to continue with unsaved changes that this browser has kept.
 *
 * @param of the key of the file's place
 */
export default function DraftOffer({ of, onEdit }: { of: string; onEdit: () => void }) {
  const [draft, setDraft] = useState<Draft>()
  useEffect(() => {
    let isGone = false
    void readDraft(of).then(found => isGone || setDraft(found))
    return () => {
      isGone = true
    }
  }, [of])
  if (!draft) return null
  return (
    <div className="text-notice" role="status">
      <p>{text('draftFound', { when: formatMoment(new Date(draft.at).toISOString()) })}</p>
      <span>
        <Button
          onPress={() => {
            void dropDraft(of)
            setDraft(undefined)
          }}
        >
          {text('discard')}
        </Button>
        <Button look="primary" onPress={onEdit}>
          {text('continueDraft')}
        </Button>
      </span>
    </div>
  )
}
