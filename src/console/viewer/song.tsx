import { useEffect, useState } from 'react'
import { readId3, type SongTags } from '../../formats/id3.ts'

/** Tags are at the beginning. A cover in front of them may be larger. */
const BEGINNING = 512 * 1024

/** The title, artist and album of a song, from its own tags. */
export default function Song({ url }: { url: string }) {
  const [{ title, artist, album, year }, setTags] = useState<SongTags>({})
  useEffect(() => {
    const gone = new AbortController()
    fetch(url, { headers: { range: `bytes=0-${BEGINNING - 1}` }, signal: gone.signal })
      .then(async response => setTags(readId3(new Uint8Array(await response.arrayBuffer()))))
      // The song plays without its tags.
      .catch(() => {})
    return () => gone.abort()
  }, [url])
  if (!title && !artist && !album) return null
  return (
    <div className="song">
      {title && <strong dir="auto">{title}</strong>}
      {artist && <span dir="auto">{artist}</span>}
      {album && (
        <span className="soft" dir="auto">
          {year ? `${album} · ${year.slice(0, 4)}` : album}
        </span>
      )}
    </div>
  )
}
