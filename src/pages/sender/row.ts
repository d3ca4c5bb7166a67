import { isOver, isRunning, type Phase, type QueuedUpload } from '../../upload-engine/snapshot.ts'
import { sizeText } from './size-text.ts'
import { filled, type Texts } from './texts.ts'

/** The actions for an upload. */
export interface Actions {
  pause(): void
  /** Also retries a failed upload. */
  resume(): void
  cancel(): void
}

/** Refusals that a retry cannot change. */
const lasting = [
  ...[
    'FILE_TOO_LARGE',
    'FILE_REQUEST_FULL',
    'FILE_REQUEST_CLOSED',
    'FILE_REQUEST_NOT_FOUND',
    'PASSWORD_REQUIRED',
  ],
  ...['INVALID_PATH', 'INVALID_INPUT', 'FILE_CHANGED'],
]

function wordsFor(upload: QueuedUpload, texts: Texts): string {
  const { phase, size, sent, failure } = upload
  if (isOver(upload)) return filled(texts.rowSent, { size: sizeText(size) })
  if (phase === 'waiting') return texts.rowWaiting
  if (phase === 'detached') return texts.rowDetached
  if (phase === 'paused')
    return filled(texts.rowPaused, { sent: sizeText(sent), size: sizeText(size) })
  if (failure) return failure.message
  return phase === 'checking'
    ? texts.rowChecking
    : filled(texts.rowOf, { sent: sizeText(Math.min(sent, size)), size: sizeText(size) })
}

/**
 * The row of an upload.
 *
 * @param say announces text to screen readers
 */
export function rowOf(
  { aim: { fileName }, size }: QueuedUpload,
  actions: Actions,
  { say, texts }: { say: (words: string) => void; texts: Texts },
) {
  const line = document.createElement('li')
  const name = Object.assign(document.createElement('bdi'), { textContent: fileName })
  const bar = Object.assign(document.createElement('progress'), {
    max: Math.max(size, 1),
    value: 0,
  })
  bar.setAttribute('aria-label', filled(texts.rowSending, { name: fileName }))
  const state = document.createElement('p')
  const text = Object.assign(document.createElement('div'), { className: 'grow' })
  text.append(name, state, bar)

  const button = (label: string, act: () => void) => {
    const made = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'quiet',
    })
    const of = Object.assign(document.createElement('span'), {
      className: 'sr',
      textContent: ` ${fileName}`,
    })
    made.append(label, of)
    made.addEventListener('click', act)
    return made
  }
  const pause = button(texts.pause, actions.pause)
  const resume = button(texts.resume, actions.resume)
  const again = button(texts.tryAgain, actions.resume)
  const cancel = button(texts.cancel, actions.cancel)
  line.append(text, pause, resume, again, cancel)

  let said: Phase | 'cancelled' = 'waiting'

  /** Shows the result, and announces it once. */
  function end(phase: typeof said, words: string): void {
    if (said === phase) return
    said = phase
    say(`${fileName}: ${words}`)
  }

  return {
    line,

    show(upload: QueuedUpload): void {
      const { phase, sent, failure } = upload
      const words = wordsFor(upload, texts)
      const isWrong = phase === 'failed'
      bar.value = sent
      bar.hidden = isOver(upload) || isWrong
      state.textContent = words
      state.className = isWrong ? 'problem' : 'soft'
      line.className = isWrong ? 'failed' : isOver(upload) ? 'done' : ''
      const focused = line.contains(document.activeElement) ? document.activeElement : null
      pause.hidden = phase !== 'waiting' && !isRunning(upload)
      resume.hidden = phase !== 'paused'
      again.hidden = !isWrong || lasting.includes(failure?.code ?? '')
      cancel.hidden = isOver(upload) || (isWrong && again.hidden)
      // Moves the focus away from a button that was hidden.
      if (focused instanceof HTMLElement && focused.hidden)
        [pause, resume, again, cancel].find(one => !one.hidden)?.focus()
      if (isOver(upload) || isWrong) end(phase, words)
      else if (isRunning(upload)) said = phase
    },

    cancelled(): void {
      if (said === 'cancelled' || line.className === 'done') return
      end('cancelled', texts.rowCancelled)
      line.className = ''
      state.className = 'soft'
      state.textContent = texts.rowCancelled
      for (const one of [bar, pause, resume, again, cancel]) one.remove()
    },
  }
}
