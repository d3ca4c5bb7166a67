import { useVirtualizer } from '@tanstack/react-virtual'
import { CircleAlert, CircleCheck, CircleSlash2, FileQuestion, Pause, Play, RotateCcw, X } from 'lucide-react'
import { useRef } from 'react'
import { isOver, type Phase, type QueuedUpload } from '../../upload-engine/snapshot.ts'
import { formatBytes } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { mediaTypeOf } from '../parts/media-type.ts'
import { choose } from './banners.tsx'
import { text } from './text.ts'
import { queue, recordOf } from './uploads.ts'

const ROW = 60

/** Every file of the queue; only what is in sight is drawn. */
export function DockList({ uploads }: { uploads: readonly QueuedUpload[] }) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: uploads.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 4,
  })
  const conflicts = uploads.filter(({ phase }) => phase === 'conflict').length
  return (
    <div className="dock-list" ref={box}>
      <ul style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const upload = uploads[index]
          return (
            upload && (
              <li
                key={upload.id}
                aria-posinset={index + 1}
                aria-setsize={uploads.length}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row upload={upload} isOneOfMany={conflicts > 1} />
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}

interface RowProps {
  upload: QueuedUpload
  /** Whether others wait for the same decision: about a single one the banner above asks. */
  isOneOfMany: boolean
}

function Row({ upload, isOneOfMany }: RowProps) {
  const { aim, size, sent, phase } = upload
  const isMoving = phase === 'uploading' || phase === 'paused' || phase === 'checking'
  return (
    <div className={`dock-row ${phase}`}>
      <Sign upload={upload} />
      <div className="dock-name">
        <strong dir="auto" title={aim.folder ? `${aim.folder}/${aim.fileName}` : aim.fileName}>
          {aim.fileName}
        </strong>
        <p title={upload.failure?.message}>{stateOf(upload)}</p>
        {isMoving && (
          <progress
            max={1}
            value={size > 0 ? Math.min(1, sent / size) : 1}
            aria-label={text('progressOf', { name: aim.fileName })}
          />
        )}
      </div>
      <Actions upload={upload} isOneOfMany={isOneOfMany} />
    </div>
  )
}

const signs: Partial<Record<Phase, typeof CircleCheck>> = {
  uploaded: CircleCheck,
  unchanged: CircleCheck,
  skipped: CircleSlash2,
  failed: CircleAlert,
  detached: FileQuestion,
}

function Sign({ upload: { id, phase, aim, size } }: { upload: QueuedUpload }) {
  const Icon = signs[phase]
  if (!Icon)
    return <EntryIcon contentType={mediaTypeOf({ name: aim.fileName, contentType: recordOf(id)?.type ?? '', size })} />
  return (
    <span className="dock-sign" aria-hidden>
      <Icon />
    </span>
  )
}

function stateOf({ phase, sent, size, failure }: QueuedUpload): string {
  const progress = text('sentOf', { sent: formatBytes(sent), size: formatBytes(size) })
  switch (phase) {
    case 'uploading':
      return failure ? text('again', { why: failure.message }) : progress
    case 'paused':
      return failure ? failure.message : `${text('paused')} · ${progress}`
    case 'failed':
      return failure?.message ?? ''
    case 'uploaded':
      return formatBytes(size)
    case 'waiting':
      return text('waiting')
    case 'checking':
      return text('checking')
    case 'conflict':
      return text('conflict')
    case 'detached':
      return text('detached')
    case 'unchanged':
      return text('unchanged')
    case 'skipped':
      return text('skipped')
  }
}

/** A name that other systems allow and the service does not: trying again changes nothing. */
const isRefused = ({ aim, failure }: QueuedUpload) =>
  failure?.code === 'INVALID_PATH' && fitting(aim.fileName) !== aim.fileName

const fitting = (name: string) => name.replaceAll('\\', '-')

function Actions({ upload, isOneOfMany }: RowProps) {
  const { id, phase, aim } = upload
  const name = aim.fileName
  const isRunning = phase === 'uploading' || phase === 'waiting' || phase === 'checking'
  return (
    <div className="dock-actions">
      {phase === 'conflict' && isOneOfMany && (
        <>
          <Button look="ghost" aria-label={text('skipOne', { name })} onPress={() => queue.resolve('skip', [id])}>
            {text('skip')}
          </Button>
          <Button look="ghost" aria-label={text('keepOne', { name })} onPress={() => queue.resolve('copy', [id])}>
            {text('keepBoth')}
          </Button>
        </>
      )}
      {isRunning && (
        <Button look="icon" aria-label={text('pauseOne', { name })} onPress={() => queue.pause([id])}>
          <Pause />
        </Button>
      )}
      {phase === 'paused' && (
        <Button look="icon" aria-label={text('resumeOne', { name })} onPress={() => queue.resume([id])}>
          <Play />
        </Button>
      )}
      {phase === 'failed' &&
        (isRefused(upload) ? (
          <Button look="ghost" onPress={() => queue.rename(id, fitting(name))}>
            {text('uploadAs', { name: fitting(name) })}
          </Button>
        ) : (
          <Button look="icon" aria-label={text('retryOne', { name })} onPress={() => queue.resume([id])}>
            <RotateCcw />
          </Button>
        ))}
      {phase === 'detached' && !recordOf(id)?.handle && (
        <Button look="ghost" aria-label={text('chooseOne', { name })} onPress={() => void choose('files')}>
          {text('chooseAgain')}
        </Button>
      )}
      {!isOver(upload) && (
        <Button look="icon" aria-label={text('cancelOne', { name })} onPress={() => queue.cancel([id])}>
          <X />
        </Button>
      )}
    </div>
  )
}
