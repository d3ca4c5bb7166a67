import { useEffect, useState } from 'react'
import type { Commands } from '../files/commands.ts'
import type { Entry } from '../files/documents.ts'
import { Viewer } from '../files/on-demand/viewer.tsx'
import type { Layout } from './layout.ts'
import type { Gallery } from './use-gallery.ts'

interface LookProps {
  id: string
  gallery: Gallery
  layout: Layout | undefined
  /** @param index position among all pictures; -1 if unknown */
  onShow: (id: string, index: number) => void
  onDownload: (entry: Entry) => void
  commands: Commands
  onSelect: (entry: Entry) => void
  onClose: () => void
}

/** Number of pictures to preload on each side. */
const BESIDE = 20

/** Shows a picture in the whole window, with the previous and next of the gallery. */
export function Look({ id, gallery, layout, onShow, ...props }: LookProps) {
  const at = layout ? gallery.indexOf(layout, id) : -1
  const [, draw] = useState(0)
  const { load } = gallery
  useEffect(() => {
    if (layout && at >= 0)
      load(layout, at - BESIDE, at + BESIDE).then(
        () => draw(times => times + 1),
        () => {},
      )
  }, [layout, at, load])
  const around: Entry[] = []
  if (layout && at >= 0)
    for (let index = Math.max(0, at - BESIDE); index <= at + BESIDE; index++) {
      const picture = gallery.at(layout, index)
      if (picture) around.push(picture)
      // Must not skip pictures that have not loaded yet.
      else if (index < at) around.length = 0
      else break
    }
  return (
    <Viewer
      id={id}
      entries={around}
      share={undefined}
      onShow={id => onShow(id, layout ? gallery.indexOf(layout, id) : -1)}
      {...props}
    />
  )
}
