import '../browser/laid-out.css'
import type { TextKind } from '../../formats/viewer.ts'
import { layOut } from '../browser/text.ts'

/** The messages of the page for this script, in the language of the page. */
type Texts = Record<
  | 'zoomIn'
  | 'zoomOut'
  | 'find'
  | 'page'
  | 'pages'
  | 'notFound'
  | 'archiveContent'
  | 'encrypted'
  | 'archiveEntries'
  | 'archiveFirst'
  | 'archiveFails'
  | 'documentFails',
  string
>
const textsOf = (part: HTMLElement): Texts => JSON.parse(part.dataset.texts ?? '{}')

/**
 * Enhances the preview on the page of a shared file.
 *
 * @param part the section with the preview
 */
export function start(part: HTMLElement): void {
  const { src = '', name = '', size = '0', layout } = part.dataset
  const gone = new AbortController()
  new MutationObserver((_, observer) => {
    if (part.isConnected) return
    gone.abort()
    observer.disconnect()
  }).observe(document.body, { childList: true, subtree: true })
  if (layout) void layOutText(part, name, layout as TextKind)
  if (part.classList.contains('pdf')) void showDocument(part, { src, name }, gone.signal)
  if (part.classList.contains('document')) void showText(part, { src, name }, gone.signal)
  if (part.classList.contains('archive')) void listContent(part, src, Number(size), gone.signal)
  if (part.classList.contains('image')) void enlarge(part, gone.signal)
}

/** The text from its frame, or inline after the folder script has extracted it. */
async function textOf(part: HTMLElement): Promise<Element | null> {
  const shown = part.querySelector('pre')
  const frame = part.querySelector('iframe')
  if (shown || !frame) return shown
  const answer = await fetch(frame.src, { headers: { Accept: 'text/html' } })
  if (!answer.ok) return null
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [text, hint] = [page.querySelector('pre'), page.querySelector('main > .hint')]
  if (text) frame.replaceWith(text, ...(hint ? [hint] : []))
  return text
}

async function layOutText(part: HTMLElement, name: string, layout: TextKind): Promise<void> {
  const text = await textOf(part).catch(() => null)
  if (!text) return
  const made = document.createElement(layout === 'source' ? 'pre' : 'div')
  made.className = `laid-out ${layout}`
  made.tabIndex = 0
  // Not a landmark, because the card of the page has the same name.
  made.role = 'group'
  made.ariaLabel = name
  made.append(await layOut(layout, name, text.textContent ?? ''))
  text.replaceWith(made)
}

async function showDocument(
  part: HTMLElement,
  { src, name }: Record<'src' | 'name', string>,
  signal: AbortSignal,
) {
  const { PDF_FRAME, PDF_SANDBOX, showPdf } = await import('../browser/pdf.ts')
  const [native] = part.children
  const frame = document.createElement('iframe')
  frame.title = name
  frame.sandbox.value = PDF_SANDBOX
  frame.src = PDF_FRAME
  // Restores the browser's own preview.
  const onError = () => native && frame.replaceWith(native)
  const { zoomIn, zoomOut, find, page, pages, notFound } = textsOf(part)
  const labels = { zoomIn, zoomOut, find, page, pages, notFound }
  showPdf({ frame, url: src, labels, signal, onError })
  native?.replaceWith(frame)
}

async function showText(
  part: HTMLElement,
  { src, name }: Record<'src' | 'name', string>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { showDocument } = await import('../browser/document.ts')
    const made = document.createElement('div')
    made.className = 'laid-out'
    made.tabIndex = 0
    made.role = 'group'
    made.ariaLabel = name
    made.append(await showDocument(src, signal))
    part.replaceChildren(made)
  } catch {
    if (!signal.aborted) part.textContent = textsOf(part).documentFails
  }
}

async function listContent(
  part: HTMLElement,
  src: string,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  const texts = textsOf(part)
  const { listArchive } = await import('../browser/archive.ts')
  try {
    const { entries, hasMore } = await listArchive(src, size, signal)
    const list = document.createElement('ul')
    list.className = 'laid-out content'
    list.tabIndex = 0
    list.ariaLabel = texts.archiveContent
    for (const { path, isEncrypted } of entries) {
      const item = document.createElement('li')
      const named = document.createElement('bdi')
      named.textContent = path
      item.append(named, isEncrypted ? ` (${texts.encrypted})` : '')
      list.append(item)
    }
    const said = document.createElement('p')
    said.className = 'hint'
    const count = entries.length.toLocaleString(document.documentElement.lang)
    said.textContent = (hasMore ? texts.archiveFirst : texts.archiveEntries).replace(
      '{count}',
      count,
    )
    part.replaceChildren(list, said)
  } catch {
    if (!signal.aborted) part.textContent = texts.archiveFails
  }
}

async function enlarge(part: HTMLElement, signal: AbortSignal): Promise<void> {
  const image = part.querySelector('img')
  if (!image) return
  const { zoomable } = await import('../browser/zoom.ts')
  const zoom = zoomable(part, image, () => {})
  signal.addEventListener('abort', () => zoom.end())
}
