import { useMemo, useState } from 'react'
import { mayEditText } from '../../edit/editable.ts'
import { placeOfShare } from '../../edit/place.ts'
import { Frame } from '../../viewer/frame.tsx'
import { Preview } from '../../viewer/preview.tsx'
import { useEditing } from '../../viewer/use-editing.tsx'
import type { ReceivedShare } from './documents.ts'

interface LookProps {
  share: ReceivedShare
  /** URL of its content. */
  url: string
  onDownload: () => void
  /** Called after the text of the file was changed. */
  onSaved: () => void
  onClose: () => void
}

/** Shows a received file in the whole window. Its text can be edited, if the share allows that. */
export function Look({ share, url, onDownload, onSaved, onClose }: LookProps) {
  const { id, token, mayEdit, fileName: name, contentType, size } = share
  const file = { name, contentType, size }
  const [isOn, turn] = useState(false)
  const isEditable = mayEditText({ canWrite: mayEdit, canDelete: mayEdit }, file)
  const place = useMemo(
    () => (isEditable ? placeOfShare({ id, token }) : undefined),
    [isEditable, id, token],
  )
  const { editor, button, notice, leaveFor, onEscape } = useEditing({
    place,
    file,
    isOn,
    turn,
    onSaved,
  })
  return (
    <Frame
      file={file}
      onDownload={onDownload}
      onClose={() => leaveFor(onClose)}
      onEscape={onEscape}
      actions={button}
      notice={notice}
    >
      {editor ?? <Preview file={file} url={url} isLarge />}
    </Frame>
  )
}
