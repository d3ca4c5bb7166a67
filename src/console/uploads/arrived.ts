import { person } from '../graphql/session.ts'
import type { Gathered } from './gather.ts'
import { arrivedForUploads } from './kept.ts'

/** The cache for files that the system shared with the console (worker/arrived.ts). */
const ARRIVED = 'arrived'

/** Null if nothing has arrived. */
async function open(): Promise<Cache | null> {
  // Only secure origins have caches, and some browsers refuse them in private windows. The console
  // then receives no shared files.
  const has = 'caches' in window && (await caches.has(ARRIVED).catch(() => false))
  return has ? caches.open(ARRIVED) : null
}

/** Drops the path, because another app may send one with the name. */
const nameOf = (encoded: string) => decodeURIComponent(encoded).split(/[/\\]/).at(-1) || 'file'

async function fileOf(kept: Response): Promise<File> {
  const { headers } = kept
  const about = {
    type: headers.get('content-type') ?? '',
    lastModified: Number(headers.get('x-modified')),
  }
  return new File([await kept.blob()], nameOf(headers.get('x-name') ?? ''), about)
}

/** The files that wait for upload by this person. Files of another account are deleted. */
export async function readArrived(): Promise<Gathered[]> {
  const cache = await open()
  if (!cache) return []
  const taken = await arrivedForUploads()
  const found: Gathered[] = []
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url)
    const kept = await cache.match(request)
    if (!kept) continue
    const whose = kept.headers.get('x-person')
    // Also deletes files of unfinished uploads. Their owner has to choose the files again.
    if (whose && whose !== person) await cache.delete(request)
    else if (!taken.has(pathname)) {
      // Shared while signed out: the file belongs to the first person who signs in.
      if (!whose) await cache.put(request, owned(kept.clone()))
      found.push({ file: await fileOf(kept), folder: '', arrived: pathname })
    }
  }
  return found
}

function owned(kept: Response): Response {
  const headers = new Headers(kept.headers)
  headers.set('x-person', person ?? '')
  return new Response(kept.body, { headers })
}

/** The file of a resumed upload; undefined if this browser no longer has it. */
export async function findArrived(arrived: string): Promise<File | undefined> {
  const kept = await (await open())?.match(arrived)
  return kept && fileOf(kept)
}

export async function discardArrived(all: readonly string[]): Promise<void> {
  const cache = await open()
  for (const arrived of all) await cache?.delete(arrived)
}
