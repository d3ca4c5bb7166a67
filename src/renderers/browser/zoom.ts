import Panzoom from '@panzoom/panzoom'

/** Maximum zoom factor. */
export const MOST_ZOOM = 8
/** Zoom factor of a double click. */
const CLOSE = 2.5

export interface Zoom {
  in(): void
  out(): void
  reset(): void
  /** Removes the listeners. */
  end(): void
}

/**
 * Makes a picture zoomable: by wheel, pinch, double click, and the keys + - 0. A zoomed picture can
 * be dragged, and its stage has `data-zoomed="true"`.
 *
 * @param onScale gets 1 for the whole picture
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
    // Without zoom, drags and touches belong to the page: a swipe goes to the next picture.
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
