import { type Client, clientOf, connect } from '../client.ts'
import { environmentOf, findLogin } from '../credentials.ts'
import { isFailure } from '../failure.ts'
import { OpenShareDocument, ReceivedDocument, ShareInfoDocument } from '../generated.ts'
import { allPages } from '../pages.ts'
import { parseLink, parseShared, splitPath } from '../path.ts'
import { notFound } from '../place.ts'
import { readSecret } from '../prompt.ts'
import type { Context } from '../run.ts'
import { sharedPlaceOf } from '../shared-place.ts'
import type { Source } from './get-bytes.ts'
import { archiveAt } from './zip-source.ts'

/**
 * Opens a share link: a file, the archive of a shared folder, or the entry at a path below the
 * link. Returns it with its name. Links of other services are opened without a credential.
 */
export async function openShare(
  context: Context,
  text: string,
  hasPassword: boolean,
): Promise<{ source: Source; name: string }> {
  const { link = text, path = '' } = parseShared(text) ?? {}
  const { token, origin } = parseLink(link)
  const { patience, service } = context
  const login = await findLogin(environmentOf(service)).catch(error => {
    if (isFailure(error, 'NOT_SIGNED_IN')) return null
    throw error
  })
  const isOwn = login !== null && (origin === undefined || origin === new URL(login.url).origin)
  const client =
    isOwn && login.personal
      ? connect(login, patience).personal
      : clientOf(origin ?? '', null, patience)
  const { entryKind, fileName, size, passwordProtected } = (
    await client.request(ShareInfoDocument, { token })
  ).share
  const password =
    hasPassword || (passwordProtected && process.stdin.isTTY)
      ? await readSecret(`Password for ${fileName}: `, patience.signal)
      : null
  // Each request counts as a download, so it is not retried.
  const named = path === '' ? {} : { path }
  const ask = async () =>
    (await client.change(OpenShareDocument, { token, password, ...named })).download
  if (path !== '') {
    const place = sharedPlaceOf(client, token)
    const found = await place.find(path)
    if (!found) throw notFound(place.show(path))
    if (found.kind === 'file') {
      const { size: bytes, md5Checksum, modifiedAt } = found.file
      const file = {
        shown: place.show(path),
        size: bytes,
        md5Checksum,
        modifiedAt: new Date(modifiedAt),
      }
      return {
        source: { ...file, link: async () => (await ask()).url },
        name: splitPath(path).name,
      }
    }
  }
  if (entryKind === 'FOLDER') {
    const first = await ask()
    return { source: archiveAt(first, first.fileName, ask), name: first.fileName }
  }
  const md5Checksum = isOwn ? await md5Of(client, token) : undefined
  return {
    source: { shown: fileName, size, md5Checksum, link: async () => (await ask()).url },
    name: fileName,
  }
}

/** The MD5 of a received share; public links do not report it. */
async function md5Of(client: Client, token: string): Promise<string | undefined> {
  try {
    const shares = await allPages(
      async after => (await client.request(ReceivedDocument, { after })).me.receivedShares,
    )
    return shares.find(share => share.token === token)?.md5
  } catch (error) {
    if (isFailure(error, 'INSUFFICIENT_SCOPE', 'KEY_OUT_OF_BOUNDS')) return undefined
    throw error
  }
}
