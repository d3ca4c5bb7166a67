import { TransferFailure } from '../../upload-engine/failure.ts'
import { isOver, type QueuedUpload } from '../../upload-engine/snapshot.ts'
import { type Actions, rowOf } from './row.ts'
import { sizeText } from './size-text.ts'
import { filled, type Texts } from './texts.ts'
import { uploadsTo } from './uploads.ts'

/** Helpers from the page for its scripts. */
interface Tools {
  /** Announces text to screen readers. */
  say(words: string): void
}

/**
 * Uploads files on the page of a file request: several at a time, in parts, with progress.
 *
 * @param form uploads a single file without scripts
 */
export function start(form: HTMLFormElement, { say }: Tools): void {
  const { request = '', sender = '', largest } = form.dataset
  const texts: Texts = JSON.parse(form.dataset.texts ?? '{}')
  const most = Number(largest)
  const { queue, add } = uploadsTo({ api: request, sender, texts }, ({ size }) => {
    if (size > most)
      throw new TransferFailure('FILE_TOO_LARGE', filled(texts.tooLarge, { size: sizeText(most) }))
  })
  const section = document.querySelector<HTMLElement>('.sent')
  const rows = new Map<string, ReturnType<typeof rowOf>>()

  const actionsOf = ({ id }: QueuedUpload): Actions => ({
    pause: () => queue.pause([id]),
    resume: () => queue.resume([id]),
    cancel: () => queue.cancel([id]),
  })

  function show(): void {
    const { uploads } = queue.snapshot()
    for (const upload of uploads) {
      let row = rows.get(upload.id)
      if (!row) {
        row = rowOf(upload, actionsOf(upload), { say, texts })
        rows.set(upload.id, row)
        section?.querySelector('ul')?.prepend(row.line)
        if (section) section.hidden = false
      }
      row.show(upload)
    }
    const ids = new Set(uploads.map(({ id }) => id))
    for (const [id, row] of rows) if (!ids.has(id)) row.cancelled()
  }

  const thanks = document.querySelector<HTMLElement>('.thanks')
  const before = section?.querySelectorAll('li').length ?? 0

  /** Thanks the sender once nothing is left to send. */
  function thank(): void {
    const { uploads } = queue.snapshot()
    const done = uploads.filter(isOver).length
    const words = thanks?.querySelector('strong')
    if (!thanks || !words || done === 0 || done < uploads.length) return
    const { one = '', more = '' } = words.dataset
    words.textContent = before + done === 1 ? one : more
    thanks.hidden = false
  }

  queue.subscribe(show)
  queue.subscribe(thank)
  show()
  takeFiles(form, add, texts)
}

/** Accepts files that are picked, or dropped anywhere on the page. */
function takeFiles(
  form: HTMLFormElement,
  add: (files: readonly File[]) => void,
  texts: Texts,
): void {
  const input = form.querySelector<HTMLInputElement>('input[type=file]')
  const label = form.querySelector('label')
  const button = form.querySelector<HTMLElement>(':scope > button')
  const drop = form.querySelector('.drop')
  if (!input || !label || !button || !drop) return
  input.multiple = true
  input.required = false
  label.textContent = texts.chooseFiles
  button.hidden = true
  form.classList.add('scripted')
  input.addEventListener('change', () => {
    add([...(input.files ?? [])])
    input.value = ''
  })
  form.addEventListener('submit', event => event.preventDefault())
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    drop.classList.add('over')
  }
  document.addEventListener('dragenter', over)
  document.addEventListener('dragover', over)
  document.addEventListener('dragleave', event => {
    if (!event.relatedTarget) drop.classList.remove('over')
  })
  document.addEventListener('drop', event => {
    drop.classList.remove('over')
    if (!event.dataTransfer?.files.length) return
    event.preventDefault()
    add([...event.dataTransfer.files])
  })
}
