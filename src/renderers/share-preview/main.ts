import '../browser/laid-out.css'
import { layOut } from '../browser/text.ts'
import type { TextKind } from '../kinds.ts'

/** Labels of the PDF frame. Share pages are in English. */
const labels = {
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  find: 'Find in the document',
  page: 'Page',
  pages: 'of {count}',
  notFound: 'Not found',
}

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
    if (!signal.aborted) part.textContent = 'The text of this document cannot be shown.'
  }
}

async function listContent(
  part: HTMLElement,
  src: string,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  const { listArchive } = await import('../browser/archive.ts')
  try {
    const { entries, hasMore } = await listArchive(src, size, signal)
    const list = document.createElement('ul')
    list.className = 'laid-out content'
    list.tabIndex = 0
    list.ariaLabel = 'Content of the archive'
    for (const { path, isEncrypted } of entries) {
      const item = document.createElement('li')
      const named = document.createElement('bdi')
      named.textContent = path
      item.append(named, isEncrypted ? ' (encrypted)' : '')
      list.append(item)
    }
    const said = document.createElement('p')
    said.className = 'hint'
    said.textContent = `${hasMore ? 'The first ' : ''}${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`
    part.replaceChildren(list, said)
  } catch {
    if (!signal.aborted) part.textContent = 'The content of this archive cannot be listed.'
  }
}

async function enlarge(part: HTMLElement, signal: AbortSignal): Promise<void> {
  const image = part.querySelector('img')
  if (!image) return
  const { zoomable } = await import('../browser/zoom.ts')
  const zoom = zoomable(part, image, () => {})
  signal.addEventListener('abort', () => zoom.end())
}
