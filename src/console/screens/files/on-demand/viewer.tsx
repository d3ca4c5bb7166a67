import { useEffect, useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { mayEditText } from '../../../edit/editable.ts'
import { placeInDrive, placeInShare } from '../../../edit/place.ts'
import { Button } from '../../../parts/button.tsx'
import { ChevronLeft, ChevronRight, Info, Pause, Play } from '../../../parts/icons.ts'
import { Frame } from '../../../viewer/frame.tsx'
import { isPicture as isShownPicture } from '../../../viewer/preview.tsx'
import { useEditing } from '../../../viewer/use-editing.tsx'
import { useSwipe } from '../../../viewer/use-swipe.ts'
import type { Commands } from '../commands.ts'
import type { Entry } from '../documents.ts'
import { DETAILS } from './details-documents.ts'
import { PhotoFacts } from './photo.tsx'
import { FilePreview, isPictureEntry } from './preview.tsx'
import { text } from './text.ts'
import { VersionsPanel, ViewerActions } from './viewer-actions.tsx'

interface ViewerProps {
  id: string
  /** The list around the file, for the previous and next file. */
  entries: readonly Entry[]
  /** Token of the share that gives access. */
  share: string | undefined
  onShow: (id: string) => void
  onDownload: (entry: Entry) => void
  /** The commands of the screen; the viewer then offers actions on the file. */
  commands?: Commands | undefined
  /** Selects a file for the dialogs of the screen. */
  onSelect?: (file: Entry) => void
  /** Whether the text of the file is being edited. */
  isEditing?: boolean
  onEdit?: (isOn: boolean) => void
  /** Called after the file was saved. */
  onSaved?: () => void
  onClose: () => void
}

/** Time per picture in a slide show, in milliseconds. */
const SLIDE_MS = 5000

/**
 * Shows a file in the whole window. Arrow keys and swipes go to the previous and next file. The
 * space bar starts a slide show.
 */
export function Viewer({
  id,
  entries,
  share,
  onShow,
  onDownload,
  commands,
  onSelect = () => {},
  isEditing = false,
  onEdit = () => {},
  onSaved = () => {},
  onClose,
}: ViewerProps) {
  const files = entries.filter(({ __typename }) => __typename === 'File')
  const at = files.findIndex(entry => entry.id === id)
  const listed = files[at]
  const [{ data }] = useQuery({
    query: DETAILS,
    variables: { id },
    pause: listed !== undefined || share !== undefined,
  })
  const file = listed ?? (data?.node?.__typename === 'File' ? data.node : undefined)
  const drive = commands?.drive
  const shareId = drive?.share && drive.id
  const { path = '' } = file ?? {}
  const mayEdit = file?.__typename === 'File' && mayEditText(drive, file)
  const place = useMemo(() => {
    if (!mayEdit) return undefined
    if (share === undefined) return placeInDrive(id)
    return shareId === undefined ? undefined : placeInShare({ id: shareId, token: share }, path)
  }, [mayEdit, id, share, shareId, path])
  const editing = useEditing({
    place,
    file: file?.__typename === 'File' ? file : undefined,
    isOn: isEditing,
    turn: onEdit,
    onSaved,
  })
  const go = (step: number) => {
    if (editing.editor) return
    const next = at < 0 ? undefined : files[at + step]
    if (next) onShow(next.id)
  }
  const step = useRef(go)
  step.current = go
  const stage = useRef<HTMLDivElement>(null)
  useSwipe(stage, go)

  const [isPlaying, setPlaying] = useState(false)
  /** The loaded picture. Its time in the slide show starts when it has loaded. */
  const [readyId, setReady] = useState('')
  const nextPicture = at < 0 ? undefined : files.slice(at + 1).find(isSlide)?.id
  const canPlay = listed !== undefined && isSlide(listed) && nextPicture !== undefined
  const isOn = isPlaying && canPlay
  const show = useRef(onShow)
  show.current = onShow
  useEffect(() => {
    if (!isOn || readyId !== id || !nextPicture) return
    const timer = setTimeout(() => show.current(nextPicture), SLIDE_MS)
    return () => clearTimeout(timer)
  }, [isOn, readyId, id, nextPicture])

  const [isInfoOn, setInfoOn] = useState(false)
  const [hasVersions, setVersions] = useState(false)
  /** Shows the file beside one that is being deleted. */
  const leave = () => {
    const beside = files[at + 1] ?? files[at - 1]
    if (beside && at >= 0) onShow(beside.id)
    else onClose()
  }
  // In a share, the location of a picture must stay hidden from people who cannot download the
  // file.
  const hasInfo = share === undefined && file?.__typename === 'File' && isPictureEntry(file)
  const playing = useRef(() => {})
  playing.current = () => canPlay && !editing.editor && setPlaying(!isOn)
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (target instanceof HTMLMediaElement || isTyping(target)) return
      const forward = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
      if (key === 'ArrowLeft' || key === 'ArrowRight') step.current(key === forward ? 1 : -1)
      const isOnControl = target instanceof Element && target.closest('button, [tabindex="0"]')
      if (key === ' ' && !isOnControl) playing.current()
      if (key === 'i') setInfoOn(isOn => !isOn)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  if (editing.editor)
    return (
      <Frame
        file={editing.edited}
        onDownload={() => file && onDownload(file)}
        onClose={() => editing.leaveFor(onClose)}
        onEscape={editing.onEscape}
        stage={stage}
      >
        {editing.editor}
      </Frame>
    )
  return (
    <Frame
      file={file?.__typename === 'File' ? file : undefined}
      onDownload={() => file && onDownload(file)}
      onClose={onClose}
      notice={editing.notice}
      stage={stage}
      actions={
        <>
          {editing.button}
          {commands && listed?.__typename === 'File' && (
            <ViewerActions
              key={id}
              file={listed}
              commands={commands}
              select={onSelect}
              hasVersions={hasVersions}
              onVersions={() => setVersions(!hasVersions)}
              onRemove={leave}
            />
          )}
          {hasInfo && (
            <Button
              look="icon"
              aria-label={text('photoDetails')}
              aria-pressed={isInfoOn}
              onPress={() => setInfoOn(!isInfoOn)}
            >
              <Info />
            </Button>
          )}
          {canPlay && (
            <Button
              look="icon"
              aria-label={text(isOn ? 'pauseSlides' : 'playSlides')}
              onPress={() => setPlaying(!isOn)}
            >
              {isOn ? <Pause /> : <Play />}
            </Button>
          )}
        </>
      }
    >
      <Button
        look="icon"
        className="viewer-step"
        aria-label={text('previous')}
        isDisabled={at <= 0}
        onPress={() => go(-1)}
      >
        <ChevronLeft />
      </Button>
      {file?.__typename === 'File' ? (
        <FilePreview
          key={`${file.id} ${file.updatedAt}`}
          file={file}
          share={share}
          isLarge
          onReady={() => setReady(file.id)}
        />
      ) : (
        <div className="preview none" />
      )}
      <Button
        look="icon"
        className="viewer-step"
        aria-label={text('next')}
        isDisabled={at < 0 || at >= files.length - 1}
        onPress={() => go(1)}
      >
        <ChevronRight />
      </Button>
      {hasVersions && share === undefined && <VersionsPanel key={id} id={id} />}
      {hasInfo && isInfoOn && !hasVersions && <PhotoPanel key={id} id={id} />}
    </Frame>
  )
}

/** Keys in a field of a dialog on top of the viewer are for the field. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, [role=textbox], .backdrop') !== null

const isSlide = (entry: Entry): boolean => entry.__typename === 'File' && isShownPicture(entry)

/** The metadata panel beside a picture. */
const PhotoPanel = ({ id }: { id: string }) => (
  <aside className="viewer-info" aria-label={text('photoDetails')}>
    <dl className="facts">
      <PhotoFacts id={id} saysNone />
    </dl>
  </aside>
)
