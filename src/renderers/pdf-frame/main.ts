import 'pdfjs-dist/web/pdf_viewer.css'
import './frame.css'
import * as pdfjs from 'pdfjs-dist'
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import type { FrameLabels, FromFrame, ToFrame } from './messages.ts'

// The viewer component expects the library in this global.
Object.assign(globalThis, { pdfjsLib: pdfjs })
const { EventBus, FindState, PDFFindController, PDFLinkService, PDFViewer } = await import(
  'pdfjs-dist/web/pdf_viewer.mjs'
)

/** Larger pages are rendered with a lower resolution. */
const MOST_PIXELS = 2 ** 24
const resources = new URL(/* @vite-ignore */ '/pages/pdf/', import.meta.url).href
pdfjs.GlobalWorkerOptions.workerSrc = new URL(workerUrl, import.meta.url).href

const say = (message: FromFrame) => parent.postMessage(message, '*')
const find = <Wanted extends HTMLElement>(id: string) => document.getElementById(id) as Wanted
const [container, number, count, field, status] = [
  find<HTMLDivElement>('container'),
  find<HTMLInputElement>('page'),
  find('count'),
  find<HTMLInputElement>('find'),
  find('status'),
]

const eventBus = new EventBus()
const linkService = new PDFLinkService({
  eventBus,
  externalLinkTarget: 2,
  externalLinkRel: 'noopener noreferrer nofollow',
})
const findController = new PDFFindController({ eventBus, linkService })
const viewer = new PDFViewer({
  container,
  eventBus,
  linkService,
  findController,
  maxCanvasPixels: MOST_PIXELS,
})
linkService.setViewer(viewer)

addEventListener('message', ({ source, data }: MessageEvent<ToFrame>) => {
  if (source === parent && data.type === 'open') void open(data)
})

async function open({ bytes, labels, lang }: ToFrame): Promise<void> {
  document.documentElement.lang = lang
  name(labels)
  try {
    const pdf = await pdfjs.getDocument({
      data: bytes,
      cMapUrl: `${resources}cmaps/`,
      standardFontDataUrl: `${resources}standard_fonts/`,
      wasmUrl: `${resources}wasm/`,
      enableXfa: false,
      maxImageSize: MOST_PIXELS * 4,
    }).promise
    viewer.setDocument(pdf)
    linkService.setDocument(pdf)
    number.max = String(pdf.numPages)
    count.textContent = labels.pages.replace('{count}', String(pdf.numPages))
  } catch {
    say({ type: 'failed' })
  }
}

function name(labels: FrameLabels): void {
  find('out').ariaLabel = labels.zoomOut
  find('in').ariaLabel = labels.zoomIn
  number.ariaLabel = labels.page
  field.ariaLabel = labels.find
  field.placeholder = labels.find
  eventBus.on('updatefindcontrolstate', ({ state }: { state: number }) => {
    status.textContent = state === FindState.NOT_FOUND ? labels.notFound : ''
  })
}

eventBus.on('pagesinit', () => {
  viewer.currentScaleValue = 'page-width'
  // On a large screen, a page at full width is too large to read.
  if (viewer.currentScale > 1.5) viewer.currentScale = 1.5
  say({ type: 'shown' })
})
eventBus.on('pagechanging', ({ pageNumber }: { pageNumber: number }) => {
  number.value = String(pageNumber)
})
find('in').addEventListener('click', () => viewer.increaseScale())
find('out').addEventListener('click', () => viewer.decreaseScale())
number.addEventListener('change', () => {
  viewer.currentPageNumber = Math.min(Math.max(1, Number(number.value) || 1), viewer.pagesCount)
})
find('tools').addEventListener('submit', event => {
  event.preventDefault()
  if (document.activeElement === field) search(false)
})
let sought = ''
function search(backwards: boolean): void {
  const query = field.value
  const type = query === sought ? 'again' : ''
  sought = query
  const how = {
    caseSensitive: false,
    entireWord: false,
    highlightAll: true,
    matchDiacritics: false,
  }
  eventBus.dispatch('find', { source: field, type, query, findPrevious: backwards, ...how })
}
field.addEventListener('input', () => search(false))

addEventListener('keydown', event => {
  const { key, target, ctrlKey, metaKey, shiftKey } = event
  if ((ctrlKey || metaKey) && key.toLowerCase() === 'f') {
    event.preventDefault()
    field.focus()
    field.select()
  }
  if (target === field && key === 'Enter' && shiftKey) {
    event.preventDefault()
    search(true)
  }
  if (key === 'Escape') return say({ type: 'key', key })
  if (target instanceof HTMLInputElement || ctrlKey || metaKey) return
  if (key === '+' || key === '=') viewer.increaseScale()
  if (key === '-') viewer.decreaseScale()
  if (key === 'ArrowLeft' || key === 'ArrowRight') say({ type: 'key', key })
})

say({ type: 'ready' })
