import { useEffect, useRef, useState } from 'react'
import { thumbHashToRGBA } from 'thumbhash'
import { graphql } from '../../../graphql/graphql.ts'
import { inParts } from '../../../graphql/in-parts.ts'
import { ask } from '../../../graphql/run.ts'
import { EntryIcon } from '../../../parts/entry-icon.tsx'
import type { FileEntry } from '../documents.ts'

const PICTURES = graphql(`
  query Pictures($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename
      id
      ... on File {
        preview {
          state
          placeholder
          small: url(size: SMALL)
          large: url(size: LARGE)
        }
        download(disposition: INLINE) {
          url
        }
      }
    }
  }
`)

/** The preview of a file, or the original if the service makes no preview. */
interface Look {
  state: 'WAITING' | 'MADE' | 'FAILED'
  placeholder: string | null
  small: string | null
  large: string | null
}

/** Larger originals are not loaded for a tile. */
const MOST_BYTES = 4_000_000
/** The most ids that one `nodes` query can have. */
const MOST_NODES = 100
/** Formats that browsers show without a preview. */
const shownByBrowsers = /^image\/(png|jpeg|gif|webp|avif)$/
/**
 * First polling interval while a preview is being made. It grows with each attempt, for a few
 * minutes.
 */
const FIRST_AGAIN_MS = 1000
const LAST_AGAIN_MS = 60_000

/** Files waiting for their preview. Files that become visible together share one query. */
let waiting = new Map<string, (look: Look | undefined, original: string | undefined) => void>()
/** Results of earlier queries, because lists unmount rows that are not visible. */
const known = new Map<string, Look>()
const MOST_KNOWN = 5000

function askFor(
  id: string,
  answer: (look: Look | undefined, original: string | undefined) => void,
): void {
  if (waiting.size === 0) setTimeout(() => void answerAll(), 50)
  waiting.set(id, answer)
}

async function answerAll(): Promise<void> {
  const asked = waiting
  waiting = new Map()
  for (const ids of inParts([...asked.keys()], MOST_NODES)) {
    // If the query fails, files keep their icons.
    const data = await ask(PICTURES, { ids }).catch(() => undefined)
    for (const node of data?.nodes ?? [])
      if (node?.__typename === 'File')
        asked.get(node.id)?.(node.preview ?? undefined, node.download.url)
  }
}

/** The preview of a file, once it is visible. */
function useLook(
  { id, size, contentType, updatedAt }: FileEntry,
  frame: React.RefObject<HTMLElement | null>,
) {
  // Changed content has a new preview.
  const key = `${id} ${updatedAt}`
  const [look, setLook] = useState(known.get(key))
  useEffect(() => {
    if (known.has(key)) return
    let isGone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = (again: number) =>
      askFor(id, (found, original) => {
        if (isGone) return
        const isShown =
          size <= MOST_BYTES && shownByBrowsers.test(contentType) && original !== undefined
        const shown =
          found ??
          (isShown ? { state: 'MADE', placeholder: null, small: original, large: null } : undefined)
        if (!shown) return
        setLook(shown as Look)
        if (shown.state === 'WAITING') {
          if (again <= LAST_AGAIN_MS) timer = setTimeout(() => look(again * 1.5), again)
        } else if (found) {
          if (known.size >= MOST_KNOWN) known.clear()
          known.set(key, found)
        }
      })
    const sight = new IntersectionObserver(([tile]) => {
      if (!tile?.isIntersecting) return
      sight.disconnect()
      look(FIRST_AGAIN_MS)
    })
    if (frame.current) sight.observe(frame.current)
    return () => {
      isGone = true
      clearTimeout(timer)
      sight.disconnect()
    }
  }, [key, id, size, contentType, frame])
  return [look, setLook] as const
}

interface ThumbnailProps {
  file: FileEntry
  size?: 'row' | 'tile'
}

/**
 * The thumbnail of a file, once it is visible. Until then, or if it cannot be shown, the icon
 * remains.
 */
export const Thumbnail = (props: ThumbnailProps) =>
  'thumbnail' in props.file ? (
    <OfShare {...props} url={String(props.file.thumbnail)} />
  ) : (
    <OfDrive {...props} />
  )

/** The top of a page says more than its middle. */
const lookOf = ({ contentType }: FileEntry, size: 'row' | 'tile'): string =>
  `thumbnail${size === 'row' ? ' in-line' : ''}${contentType === 'application/pdf' ? ' page' : ''}`

/** Shares include thumbnail URLs, so no query is needed. */
function OfShare({ file, size = 'tile', url }: ThumbnailProps & { url: string }) {
  const [hasFailed, setFailed] = useState(false)
  return (
    <span className={lookOf(file, size)} aria-hidden>
      {hasFailed ? (
        <EntryIcon contentType={file.contentType} size={size} />
      ) : (
        <img
          src={url}
          alt=""
          loading="lazy"
          decoding="async"
          draggable={false}
          onError={() => setFailed(true)}
        />
      )}
    </span>
  )
}

function OfDrive({ file, size = 'tile' }: ThumbnailProps) {
  const frame = useRef<HTMLSpanElement>(null)
  const [look, setLook] = useLook(file, frame)
  const [isLoaded, setLoaded] = useState(false)
  const small = look?.state === 'MADE' ? look.small : null
  return (
    <span ref={frame} className={lookOf(file, size)} aria-hidden>
      {!look || small === null ? (
        <EntryIcon contentType={file.contentType} size={size} />
      ) : (
        <>
          {!isLoaded && look.placeholder && <Placeholder hash={look.placeholder} />}
          <img
            src={small}
            {...(size === 'tile' && look.large ? { srcSet: `${small} 1x, ${look.large} 2x` } : {})}
            alt=""
            decoding="async"
            draggable={false}
            onLoad={() => setLoaded(true)}
            onError={() => setLook({ ...look, state: 'FAILED' })}
          />
        </>
      )}
    </span>
  )
}

/**
 * A placeholder until the picture has loaded. It uses a canvas, because the content security policy
 * forbids data: URLs.
 */
export function Placeholder({ hash }: { hash: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const { current } = canvas
    const context = current?.getContext('2d')
    if (!current || !context) return
    const { w, h, rgba } = thumbHashToRGBA(
      Uint8Array.from(atob(hash), letter => letter.charCodeAt(0)),
    )
    current.width = w
    current.height = h
    context.putImageData(new ImageData(new Uint8ClampedArray(rgba), w, h), 0, 0)
  }, [hash])
  return <canvas ref={canvas} />
}
