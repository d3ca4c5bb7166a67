import { useEffect, useRef, useState } from 'react'
import { MOST_ZOOM, type Zoom, zoomable } from '../../renderers/browser/zoom.ts'
import { formatPercent } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { ZoomIn, ZoomOut } from '../parts/icons.ts'
import { text } from './text.ts'

interface PictureProps {
  url: string
  name: string
  onError: () => void
  onReady?: (() => void) | undefined
}

/** A picture with zoom. */
export default function Picture({ url, name, onError, onReady }: PictureProps) {
  const stage = useRef<HTMLDivElement>(null)
  const image = useRef<HTMLImageElement>(null)
  const zoom = useRef<Zoom>(undefined)
  const [scale, setScale] = useState(1)
  useEffect(() => {
    if (!stage.current || !image.current) return
    const made = zoomable(stage.current, image.current, setScale)
    zoom.current = made
    return () => made.end()
  }, [])
  return (
    <div className="preview image picture">
      <div className="picture-stage" ref={stage}>
        <img
          ref={image}
          src={url}
          alt={name}
          draggable={false}
          onLoad={onReady}
          onError={onError}
        />
      </div>
      <div className="picture-zoom" role="group" aria-label={text('zoom')}>
        <Button
          look="icon"
          aria-label={text('zoomOut')}
          isDisabled={scale <= 1}
          onPress={() => zoom.current?.out()}
        >
          <ZoomOut />
        </Button>
        <Button
          look="ghost"
          aria-label={`${formatPercent(scale)}, ${text('zoomReset')}`}
          onPress={() => zoom.current?.reset()}
        >
          {formatPercent(scale)}
        </Button>
        <Button
          look="icon"
          aria-label={text('zoomIn')}
          isDisabled={scale >= MOST_ZOOM}
          onPress={() => zoom.current?.in()}
        >
          <ZoomIn />
        </Button>
      </div>
    </div>
  )
}
