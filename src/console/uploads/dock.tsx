import { useState, useSyncExternalStore } from 'react'
import { isOver, type Snapshot } from '../../upload-engine/snapshot.ts'
import { formatBytes, formatNumber } from '../i18n/format.ts'
import { formatDuration } from '../i18n/times.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { ChevronDown, ChevronUp, Pause, Play, X } from '../parts/icons.ts'
import { Banners } from './banners.tsx'
import { DockList } from './dock-list.tsx'
import { text } from './text.ts'
import { cancel, queue } from './uploads.ts'

/** The upload dock in a corner of the screen, with announcements for screen readers. */
export function Dock() {
  const snapshot = useSyncExternalStore(queue.subscribe, queue.snapshot)
  return (
    <>
      {snapshot.uploads.length > 0 && <Box snapshot={snapshot} />}
      <p role="status" className="sr uploads-status">
        {announcementOf(snapshot)}
      </p>
    </>
  )
}

/** Overall progress and the individual uploads. */
function Box({ snapshot }: { snapshot: Snapshot }) {
  const [isOpen, setOpen] = useState(true)
  const [isAsking, setAsking] = useState(false)
  const { uploads, total } = snapshot
  const { phases } = total
  const isDone = uploads.every(isOver)
  const isActive = phases.waiting + phases.uploading + phases.checking > 0
  const mayResume = phases.paused + phases.failed > 0
  const close = () => (isDone ? queue.clear() : setAsking(true))
  return (
    <section className={`dock${isOpen ? '' : ' closed'}`} aria-label={text('uploads')}>
      <div className="dock-head">
        <div className="dock-title">
          <h2>{titleOf(snapshot)}</h2>
          <p>{detailsOf(snapshot)}</p>
        </div>
        {isActive ? (
          <Button look="icon" aria-label={text('pauseAll')} onPress={() => queue.pause()}>
            <Pause />
          </Button>
        ) : (
          mayResume && (
            <Button look="icon" aria-label={text('resumeAll')} onPress={() => queue.resume()}>
              <Play />
            </Button>
          )
        )}
        <Button
          look="icon"
          aria-label={isOpen ? text('collapse') : text('expand')}
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
        >
          {isOpen ? <ChevronDown /> : <ChevronUp />}
        </Button>
        <Button look="icon" aria-label={isDone ? text('close') : text('cancelAll')} onPress={close}>
          <X />
        </Button>
      </div>
      {!isDone && (
        <progress
          className={isActive ? 'dock-progress' : 'dock-progress idle'}
          max={1}
          value={total.size > 0 ? Math.min(1, total.sent / total.size) : 0}
          aria-label={text('progress')}
        />
      )}
      {isOpen && (
        <>
          <Banners snapshot={snapshot} />
          <DockList uploads={uploads} />
        </>
      )}
      <Confirm
        title={text('cancelTitle')}
        isOpen={isAsking}
        label={text('cancelAll')}
        onConfirm={() => void cancel()}
        onClose={() => setAsking(false)}
      >
        <p>{text('cancelWhy')}</p>
      </Confirm>
    </section>
  )
}

const doneOf = ({ total: { phases } }: Snapshot) => phases.uploaded + phases.unchanged

function titleOf(snapshot: Snapshot): string {
  const { uploads, total } = snapshot
  const { phases } = total
  const [done, count] = [doneOf(snapshot), uploads.length]
  if (phases.waiting + phases.uploading + phases.checking > 0)
    return text('uploading', { done: formatNumber(done), count })
  if (phases.conflict + phases.detached > 0) return text('waitsForYou')
  if (phases.paused > 0) return text('pausedTitle', { done: formatNumber(done), count })
  if (phases.failed > 0) return text('failedTitle', { count: phases.failed })
  return text('doneTitle', { count: done })
}

function detailsOf({ uploads, total }: Snapshot): string {
  const { sent, size, rate, secondsLeft, phases } = total
  // After a reload, the received bytes are unknown.
  if (uploads.every(isOver) || sent === 0) return formatBytes(size)
  const parts = [text('sentOf', { sent: formatBytes(sent), size: formatBytes(size) })]
  if (phases.uploading > 0 && secondsLeft !== undefined)
    parts.push(
      text('timeLeft', { time: formatDuration(secondsLeft) }),
      text('perSecond', { rate: formatBytes(rate) }),
    )
  return parts.join(' · ')
}

/** The announcement for screen readers. It changes rarely. */
function announcementOf(snapshot: Snapshot): string {
  const { uploads, total } = snapshot
  if (uploads.length === 0) return ''
  if (uploads.every(isOver)) return text('doneTitle', { count: doneOf(snapshot) })
  if (total.phases.conflict > 0) return text('taken', { count: total.phases.conflict })
  if (total.phases.failed > 0) return text('failedTitle', { count: total.phases.failed })
  return total.phases.uploading > 0 ? text('begun', { count: uploads.length }) : ''
}
