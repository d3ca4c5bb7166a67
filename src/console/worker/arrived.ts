/**
 * The cache for files that the system shared with the installed console. The page reads and uploads
 * them (uploads/arrived.ts).
 */
export const ARRIVED = 'arrived'

/**
 * Stores the files of a form for the next page, and redirects there.
 *
 * @param person id of the last signed-in person; empty for none
 */
export async function takeShared(request: Request, person: string): Promise<Response> {
  const kept: string[] = []
  try {
    const form = await request.formData()
    // An empty file input sends one file without a name.
    const files = form
      .getAll('files')
      .filter(value => value instanceof File && (value.name !== '' || value.size > 0))
    const cache = await caches.open(ARRIVED)
    const share = crypto.randomUUID()
    for (const [at, file] of (files as File[]).entries()) {
      kept.push(`/arrived/${share}/${at}`)
      await cache.put(
        `/arrived/${share}/${at}`,
        new Response(file, { headers: headersOf(file, person) }),
      )
    }
    return Response.redirect('/files', 303)
  } catch {
    // The storage is full, or the form is invalid.
    await remove(kept).catch(() => {})
    return Response.redirect('/files?unshared=true', 303)
  }
}

async function remove(kept: readonly string[]): Promise<void> {
  const cache = await caches.open(ARRIVED)
  for (const address of kept) await cache.delete(address)
}

const headersOf = ({ name, type, lastModified }: File, person: string) => ({
  'content-type': type,
  'x-name': encodeURIComponent(name.toWellFormed()),
  'x-modified': String(lastModified),
  'x-person': person,
})
