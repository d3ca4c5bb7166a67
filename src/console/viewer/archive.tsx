import { useEffect, useState } from 'react'
import { type ArchiveList, listArchive } from '../../renderers/browser/archive.ts'
import { formatBytes } from '../i18n/format.ts'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { Lock } from '../parts/icons.ts'
import { text } from './text.ts'

/** The contents of a ZIP archive, read from its central directory. */
export default function Archive({
  url,
  size,
  onError,
}: {
  url: string
  size: number
  onError: () => void
}) {
  const [list, setList] = useState<ArchiveList>()
  useEffect(() => {
    const gone = new AbortController()
    listArchive(url, size, gone.signal)
      .then(setList)
      .catch(() => gone.signal.aborted || onError())
    return () => gone.abort()
  }, [url, size, onError])
  if (!list) return <div className="preview none" />
  const { entries, hasMore } = list
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable by keyboard
    <section className="preview archive" aria-label={text('archive')} tabIndex={0}>
      <ul>
        {entries.map(({ path, size: bytes, isEncrypted }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an archive may contain the same path twice
          <li key={at}>
            <EntryIcon contentType={path.endsWith('/') ? null : 'application/octet-stream'} />
            <bdi>{path.replace(/\/$/, '')}</bdi>
            {isEncrypted && (
              <span role="img" aria-label={text('encrypted')}>
                <Lock />
              </span>
            )}
            <span>{path.endsWith('/') ? '' : formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
      <p>
        {hasMore
          ? text('archiveMore', { count: entries.length })
          : text('archiveCount', { count: entries.length })}
      </p>
    </section>
  )
}
