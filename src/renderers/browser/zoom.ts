import Panzoom from '@panzoom/panzoom'

/** So many times its size a picture is enlarged to at most. */
export const MOST_ZOOM = 8
/** What a double click enlarges to. */
const CLOSE = 2.5

export interface Zoom {
  in(): void
  out(): void
  reset(): void
  /** Stops listening. */
  end(): void
}

/**
 * Lets a picture be enlarged: by the wheel, two fingers, a double click, and the keys + - 0. While
 * it is, it is dragged, and its stage has `data-zoomed="true"`.
 * @param onScale with 1 for the whole picture
 */
export function zoomable(
  stage: HTMLElement,
  image: HTMLElement,
  onScale: (scale: number) => void,
): Zoom {
  const animate = !matchMedia('(prefers-reduced-motion: reduce)').matches
  const panzoom = Panzoom(image, {
    minScale: 1,
    maxScale: MOST_ZOOM,
    step: 0.3,
    panOnlyWhenZoomed: true,
    canvas: true,
    animate,
    cursor: '',
    // Of the whole picture, drags and touches are for the page: a finger turns to the next one.
    handleStartEvent: event => panzoom.getScale() > 1 && event.preventDefault(),
  })
  const gone = new AbortController()
  const { signal } = gone
  const changed = () => {
    const scale = panzoom.getScale()
    stage.dataset.zoomed = String(scale > 1)
    if (scale === 1) panzoom.pan(0, 0, { force: true })
    onScale(scale)
  }
  const toggle = (at: MouseEvent) =>
    panzoom.getScale() > 1 ? panzoom.reset() : panzoom.zoomToPoint(CLOSE, at)
  const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
    if (ctrlKey || metaKey || altKey || target instanceof HTMLInputElement) return
    if (key === '+' || key === '=') panzoom.zoomIn()
    if (key === '-') panzoom.zoomOut()
    if (key === '0') panzoom.reset()
  }
  image.addEventListener('panzoomzoom', changed, { signal })
  image.addEventListener('panzoomreset', changed, { signal })
  stage.addEventListener('wheel', event => panzoom.zoomWithWheel(event, { animate: false }), {
    passive: false,
    signal,
  })
  stage.addEventListener('dblclick', toggle, { signal })
  document.addEventListener('keydown', onKey, { signal })
  return {
    in: () => panzoom.zoomIn(),
    out: () => panzoom.zoomOut(),
    reset: () => panzoom.reset(),
    end() {
      gone.abort()
      panzoom.destroy()
    },
  }
}
