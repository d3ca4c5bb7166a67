import { ask, mutate } from '../graphql/run.ts'
import { formatMoment } from '../i18n/format.ts'
import { toast, toastError } from '../parts/toasts.tsx'
import { DELETE_VERSION, DOWNLOAD_VERSION, RESTORE_VERSION, type Version } from './documents.ts'
import { text } from './text.ts'

const makeCurrent = (version: string, expectedRevision?: number) =>
  mutate(RESTORE_VERSION, {
    input: { version, ...(expectedRevision === undefined ? {} : { expectedRevision }) },
  })

/** Restores a version. Undo brings the previous content back, unless the file changed since. */
export async function restore({ id, createdAt }: Version, revision: number): Promise<void> {
  try {
    const { restoreVersion } = await makeCurrent(id, revision)
    const before = restoreVersion?.version?.id
    const now = restoreVersion?.file.revision
    toast({
      message: text('restored', { when: formatMoment(createdAt) }),
      ...(before && { undo: () => void makeCurrent(before, now).catch(toastError) }),
    })
  } catch (error) {
    toastError(error)
  }
}

/** Deletes a version permanently. */
export async function remove({ id }: Version): Promise<void> {
  try {
    await mutate(DELETE_VERSION, { input: { version: id } })
    toast({ message: text('deleted') })
  } catch (error) {
    toastError(error)
  }
}

/** Downloads a version. */
export async function download({ id }: Version): Promise<void> {
  try {
    const { node } = await ask(DOWNLOAD_VERSION, { id, disposition: 'ATTACHMENT' })
    if (node?.__typename !== 'Version') return
    const link = document.createElement('a')
    link.href = node.download.url
    link.download = node.download.fileName
    link.click()
  } catch (error) {
    toastError(error)
  }
}
