import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { typescriptType } from '../../formats/media-type.ts'
import { isOver, type Phase, type QueuedUpload } from '../../upload-engine/snapshot.ts'
import { formatBytes, formatPercent } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import {
  CircleAlert,
  CircleCheck,
  CircleSlash2,
  FileQuestion,
  Pause,
  Play,
  RotateCcw,
  X,
} from '../parts/icons.ts'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import { choose } from './banners.tsx'
import { useMayReplace } from './may-replace.ts'
import { text } from './text.ts'
import { cancel, queue, recordOf } from './uploads.ts'

const ROW = 60

/** All files of the queue. Only visible rows are rendered. */
export function DockList({ uploads }: { uploads: readonly QueuedUpload[] }) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: uploads.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 4,
  })
  const taken = uploads.filter(({ phase }) => phase === 'conflict')
  const among = { isMany: taken.length > 1, mayReplace: useMayReplace(uploads) }
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
                <Row upload={upload} among={among} />
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}

const DOUBLE_CLICK_MS = 500
let last = { at: Number.NEGATIVE_INFINITY, top: 0 }

/**
 * Cancels one upload. It ignores the second click of a double click, which would hit the row that
 * moved up.
 */
function cancelOne(id: string, button: Element): void {
  const pressed = { at: Date.now(), top: button.getBoundingClientRect().top }
  if (
    Math.abs(pressed.at - last.at) < DOUBLE_CLICK_MS &&
    Math.abs(pressed.top - last.top) < ROW / 2
  )
    return
  last = pressed
  void cancel([id])
}

interface RowProps {
  upload: QueuedUpload
  /**
   * Whether several uploads wait for the same decision, and whether replacing is allowed. For a
   * single upload, the banner asks.
   */
  among: { isMany: boolean; mayReplace: boolean }
}

function Row({ upload, among }: RowProps) {
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
      <Actions upload={upload} among={among} />
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

function Sign({ upload: { id, phase, aim } }: { upload: QueuedUpload }) {
  const Icon = signs[phase]
  if (!Icon)
    return (
      // Browsers take a source in TypeScript for a video.
      <EntryIcon contentType={typescriptType(aim.fileName) ?? recordOf(id)?.type ?? ''} />
    )
  return (
    <span className="dock-sign" aria-hidden>
      <Icon />
    </span>
  )
}

function stateOf({ phase, sent, size, checked, failure }: QueuedUpload): string {
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
      return checked > 0 ? text('checkingOf', { share: formatPercent(checked) }) : text('checking')
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

/** Whether the service rejects the file name. A retry would not help. */
const isRefused = ({ aim, failure }: QueuedUpload) =>
  failure?.code === 'INVALID_PATH' && fitting(aim.fileName) !== aim.fileName

const fitting = (name: string) => name.replaceAll('\\', '-')

function Actions({ upload, among }: RowProps) {
  const { id, phase, aim } = upload
  const name = aim.fileName
  const choices: MenuEntry[] = [
    { id: 'skip', label: text('skip'), run: () => queue.resolve('skip', [id]) },
    ...(among.mayReplace
      ? [{ id: 'replace', label: text('replace'), run: () => queue.resolve('replace', [id]) }]
      : []),
    { id: 'copy', label: text('keepBoth'), run: () => queue.resolve('copy', [id]) },
  ]
  const isRunning = phase === 'uploading' || phase === 'waiting' || phase === 'checking'
  return (
    <div className="dock-actions">
      {phase === 'conflict' && among.isMany && (
        <Menu label={text('decideOne', { name })} button={{ look: 'ghost' }} entries={choices}>
          {text('decide')}
        </Menu>
      )}
      {isRunning && (
        <Button
          look="icon"
          aria-label={text('pauseOne', { name })}
          onPress={() => queue.pause([id])}
        >
          <Pause />
        </Button>
      )}
      {phase === 'paused' && (
        <Button
          look="icon"
          aria-label={text('resumeOne', { name })}
          onPress={() => queue.resume([id])}
        >
          <Play />
        </Button>
      )}
      {phase === 'failed' &&
        (isRefused(upload) ? (
          <Button look="ghost" onPress={() => queue.rename(id, fitting(name))}>
            {text('uploadAs', { name: fitting(name) })}
          </Button>
        ) : (
          <Button
            look="icon"
            aria-label={text('retryOne', { name })}
            onPress={() => queue.resume([id])}
          >
            <RotateCcw />
          </Button>
        ))}
      {phase === 'detached' && !recordOf(id)?.handle && (
        <Button
          look="ghost"
          aria-label={text('chooseOne', { name })}
          onPress={() => void choose('files')}
        >
          {text('chooseAgain')}
        </Button>
      )}
      {!isOver(upload) && (
        <Button
          look="icon"
          aria-label={text('cancelOne', { name })}
          onPress={({ target }) => cancelOne(id, target)}
        >
          <X />
        </Button>
      )}
    </div>
  )
}
