import './small-picture.css'
import { useState } from 'react'
import { EntryIcon } from './entry-icon.tsx'

interface SmallPictureProps {
  /** Of the picture; without one, the icon is shown. */
  url: string | null | undefined
  contentType: string | null
}

/** What a file looks like, in the place of its icon in a line: loaded once it is in sight. */
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
