import { mutate } from '../graphql/run.ts'
import { copyLink } from '../parts/copy.ts'
import { toast, toastError } from '../parts/toasts.tsx'
import { CREATE_LINK, REVOKE } from './documents.ts'
import { text } from './text.ts'

/** Creates a link for entries with the terms that the share form proposes, and copies it. */
export async function shareByLink(files: readonly { id: string }[]): Promise<void> {
  const input = { entries: files.map(({ id }) => ({ id })), duration: '7d' }
  const made = mutate(CREATE_LINK, { input })
  const revoke = async () => {
    const { createLink } = await made
    if (!createLink) return
    await mutate(REVOKE, { input: { share: { id: createLink.share.id } } })
    toast({ message: text('revoked') })
  }
  try {
    await copyLink(
      made.then(({ createLink }) => createLink?.share.url ?? ''),
      text('quickLinkMade'),
      () => void revoke().catch(toastError),
    )
  } catch (error) {
    toastError(error)
  }
}
