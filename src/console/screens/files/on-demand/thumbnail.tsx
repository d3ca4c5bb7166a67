import { useEffect, useRef, useState } from 'react'
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
        download(disposition: INLINE) {
          url
        }
      }
    }
  }
`)

/** Those that wait for the address of their bytes: the tiles that come into sight together ask together. */
let waiting = new Map<string, (url: string) => void>()

function askForUrl(id: string, answer: (url: string) => void): void {
  if (waiting.size === 0) setTimeout(() => void answerAll(), 50)
  waiting.set(id, answer)
}

async function answerAll(): Promise<void> {
  const asked = waiting
  waiting = new Map()
  for (const ids of inParts([...asked.keys()])) {
    // Without an answer the tiles keep their icons.
    const data = await ask(PICTURES, { ids }).catch(() => undefined)
    for (const node of data?.nodes ?? []) if (node?.__typename === 'File') asked.get(node.id)?.(node.download.url)
  }
}

/** The picture in a file, once its tile is in sight; until then, and if it cannot be shown, its icon. */
export function Thumbnail({ file: { id, contentType } }: { file: FileEntry }) {
  const frame = useRef<HTMLSpanElement>(null)
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    let isGone = false
    const sight = new IntersectionObserver(([tile]) => {
      if (!tile?.isIntersecting) return
      sight.disconnect()
      askForUrl(id, found => isGone || setUrl(found))
    })
    if (frame.current) sight.observe(frame.current)
    return () => {
      isGone = true
      sight.disconnect()
    }
  }, [id])
  return (
    <span ref={frame} className="thumbnail" aria-hidden>
      {url === null ? (
        <EntryIcon contentType={contentType} size="tile" />
      ) : (
        <img src={url} alt="" decoding="async" draggable={false} onError={() => setUrl(null)} />
      )}
    </span>
  )
}
