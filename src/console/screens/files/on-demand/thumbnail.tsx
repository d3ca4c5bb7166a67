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

/** What a file looks like: its preview, or itself where the service makes none. */
interface Look {
  state: 'WAITING' | 'MADE' | 'FAILED'
  placeholder: string | null
  small: string | null
  large: string | null
}

/** The picture itself is loaded: a larger one would be too much for a tile. */
const MOST_BYTES = 4_000_000
/** So many ids one query of nodes takes. */
const MOST_NODES = 100
/** What browsers show without a preview. */
const shownByBrowsers = /^image\/(png|jpeg|gif|webp|avif)$/
/**
 * A preview that is being made is asked for again after so long, and each time later, for a few
 * minutes.
 */
const FIRST_AGAIN_MS = 1000
const LAST_AGAIN_MS = 60_000

/** Those that wait for their look: the files that come into sight together ask together. */
let waiting = new Map<string, (look: Look | undefined, original: string | undefined) => void>()
/** Looks of contents that were in sight before: lists show only their visible lines. */
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
    // Without an answer the files keep their icons.
    const data = await ask(PICTURES, { ids }).catch(() => undefined)
    for (const node of data?.nodes ?? [])
      if (node?.__typename === 'File')
        asked.get(node.id)?.(node.preview ?? undefined, node.download.url)
  }
}

/** What a file looks like, once it is in sight. */
function useLook(
  { id, size, contentType, updatedAt }: FileEntry,
  frame: React.RefObject<HTMLElement | null>,
) {
  // With new bytes it is another picture.
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

/** The picture in a file, once it is in sight; until then, and if it cannot be shown, its icon. */
export const Thumbnail = (props: ThumbnailProps) =>
  'thumbnail' in props.file ? (
    <OfShare {...props} url={String(props.file.thumbnail)} />
  ) : (
    <OfDrive {...props} />
  )

/** What is shared says where its picture is: nothing has to be asked for. */
function OfShare({ file, size = 'tile', url }: ThumbnailProps & { url: string }) {
  const [hasFailed, setFailed] = useState(false)
  return (
    <span className={`thumbnail${size === 'row' ? ' in-line' : ''}`} aria-hidden>
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
    <span ref={frame} className={`thumbnail${size === 'row' ? ' in-line' : ''}`} aria-hidden>
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
 * What is seen until a picture is there. A canvas, because the page allows no pictures in
 * addresses.
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
