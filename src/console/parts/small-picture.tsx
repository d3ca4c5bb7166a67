import './small-picture.css'
import { useState } from 'react'
import { EntryIcon } from './entry-icon.tsx'

interface SmallPictureProps {
  /** URL of the picture. Without one, the icon is shown. */
  url: string | null | undefined
  contentType: string | null
}

/** A thumbnail in place of the icon of a row. It loads when it becomes visible. */
export function SmallPicture({ url, contentType }: SmallPictureProps) {
  const [failed, setFailed] = useState<string>()
  if (!url || url === failed) return <EntryIcon contentType={contentType} />
  return (
    <img
      className="small-picture"
      src={url}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => setFailed(url)}
    />
  )
}
