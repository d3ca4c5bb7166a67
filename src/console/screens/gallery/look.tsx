import { useEffect, useState } from 'react'
import type { Entry } from '../files/documents.ts'
import { Viewer } from '../files/on-demand/viewer.tsx'
import type { Layout } from './layout.ts'
import type { Gallery } from './use-gallery.ts'

interface LookProps {
  id: string
  gallery: Gallery
  layout: Layout | undefined
  /** @param index where it stands; -1 if that is not known */
  onShow: (id: string, index: number) => void
  onDownload: (entry: Entry) => void
  onClose: () => void
}

/** How many pictures on each side are loaded before they are wanted. */
const BESIDE = 20

/** A picture over the whole window, with those before and after it in the gallery. */
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
      // What is not loaded yet must not be passed over.
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
