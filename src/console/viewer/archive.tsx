import { type ReactNode, useEffect, useState } from 'react'
import { isText, kindOf, type NamedFile } from '../../formats/viewer.ts'
import {
  type ArchiveEntry,
  type ArchiveList,
  canUnpack,
  listArchive,
  unpack,
} from '../../renderers/browser/archive.ts'
import { formatBytes } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { ChevronLeft, Lock } from '../parts/icons.ts'
import { text } from './text.ts'

interface ArchiveProps {
  url: string
  size: number
  onError: () => void
  /** Shows an unpacked file. */
  render: (file: NamedFile, url: string, bytes: Uint8Array<ArrayBuffer>) => ReactNode
}

/** Media types by the ends of names. Archives say only names. Source code is found by its name. */
const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
}

const typeOf = (name: string): string =>
  types[/\.([^.]+)$/.exec(name.toLowerCase())?.[1] ?? ''] ?? 'application/octet-stream'

const fileOf = ({ path, size }: ArchiveEntry) => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { name, size, contentType: typeOf(name) }
}

/** Whether an entry can be shown: pictures and texts. Sound and documents are read by ranges. */
const canOpen = (entry: ArchiveEntry): boolean => {
  const file = fileOf(entry)
  return canUnpack(entry) && (/^image\//.test(file.contentType) || isText(kindOf(file)))
}

/** The contents of a ZIP archive, read from its central directory. Its files can be opened. */
export default function Archive(props: ArchiveProps) {
  const { url, size, onError, render } = props
  const [list, setList] = useState<ArchiveList>()
  const [open, setOpen] = useState<ArchiveEntry | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    listArchive(url, size, gone.signal)
      .then(setList)
      .catch(() => gone.signal.aborted || onError())
    return () => gone.abort()
  }, [url, size, onError])
  if (!list) return <div className="preview none" />
  if (open)
    return (
      <Opened key={open.path} url={url} entry={open} render={render} onBack={() => setOpen(null)} />
    )
  const { entries, hasMore } = list
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable by keyboard
    <section className="preview archive" aria-label={text('archive')} tabIndex={0}>
      <ul>
        {entries.map((entry, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an archive may contain the same path twice
          <li key={at}>
            <EntryIcon contentType={entry.path.endsWith('/') ? null : fileOf(entry).contentType} />
            {canOpen(entry) ? (
              <button type="button" className="link" onClick={() => setOpen(entry)}>
                <bdi>{entry.path}</bdi>
              </button>
            ) : (
              <bdi>{entry.path.replace(/\/$/, '')}</bdi>
            )}
            {entry.isEncrypted && (
              <span role="img" aria-label={text('encrypted')}>
                <Lock />
              </span>
            )}
            <span>{entry.path.endsWith('/') ? '' : formatBytes(entry.size)}</span>
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

interface OpenedProps extends Pick<ArchiveProps, 'url' | 'render'> {
  entry: ArchiveEntry
  onBack: () => void
}

/** One file of the archive. */
function Opened({ url, entry, render, onBack }: OpenedProps) {
  const [content, setContent] = useState<{ url: string; bytes: Uint8Array<ArrayBuffer> }>()
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    const gone = new AbortController()
    let made = ''
    unpack(url, entry, gone.signal)
      .then(bytes => {
        made = URL.createObjectURL(new Blob([bytes], { type: fileOf(entry).contentType }))
        if (gone.signal.aborted) URL.revokeObjectURL(made)
        else setContent({ url: made, bytes })
      })
      .catch(() => gone.signal.aborted || setFailed(true))
    return () => {
      gone.abort()
      if (made) URL.revokeObjectURL(made)
    }
  }, [url, entry])
  return (
    <section className="archive-open" aria-label={entry.path}>
      <p>
        <Button look="ghost" autoFocus onPress={onBack}>
          <ChevronLeft />
          {text('archiveBack')}
        </Button>
        <bdi>{entry.path}</bdi>
      </p>
      {hasFailed ? (
        <div className="preview none" role="alert">
          <p>{text('archiveDamaged')}</p>
        </div>
      ) : (
        content && render(fileOf(entry), content.url, content.bytes)
      )}
    </section>
  )
}
