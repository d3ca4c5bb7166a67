import { Failure } from '../failure.ts'
import { type BytesFragment, ZipEntriesDocument } from '../generated.ts'
import type { Place } from '../place.ts'
import type { Source } from './get-bytes.ts'

/**
 * The archive behind a URL. When the URL expires, a new one is requested, and its archive must be
 * the same.
 */
export function archiveAt(
  first: BytesFragment,
  shown: string,
  again: () => Promise<BytesFragment>,
): Source {
  let next: BytesFragment | undefined = first
  return {
    shown,
    size: Number(first.size),
    md5Checksum: undefined,
    etag: first.etag,
    async link() {
      const { url, etag } = next ?? (await again())
      next = undefined
      if (etag !== first.etag)
        throw new Failure(
          'FILE_CHANGED',
          `The content of ${shown} has changed meanwhile. Run the same command again.`,
          {
            path: shown,
          },
        )
      return url
    },
  }
}

/**
 * One archive of several files and folders of a drive.
 *
 * @returns the archive and its name
 */
export async function zipOf(
  place: Place,
  paths: string[],
): Promise<{ source: Source; name: string }> {
  const ask = async () => {
    const entries = await Promise.all(paths.map(path => place.at(path)))
    return (await place.client.change(ZipEntriesDocument, { entries }, 'repeatable')).download
  }
  const first = await ask()
  return { source: archiveAt(first, first.fileName, ask), name: first.fileName }
}
