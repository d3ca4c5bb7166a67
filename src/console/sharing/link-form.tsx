import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { copyLink } from '../parts/copy.ts'
import { Link2 } from '../parts/icons.ts'
import { useTask } from '../parts/use-task.ts'
import { CREATE_LINK } from './documents.ts'
import { MostDownloads, readMost } from './most-downloads.tsx'
import { readTerms, Terms } from './terms.tsx'
import { text } from './text.ts'

/** Creates a public download link for one or several entries. */
export function LinkForm({
  files,
  onMade,
}: {
  files: readonly { id: string }[]
  onMade?: (ids: string[]) => void
}) {
  const { problem, submit } = useTask()
  const send = submit(async (form, element) => {
    const refs = files.map(({ id }) => ({ id }))
    const what = refs.length === 1 ? { file: refs[0] } : { files: refs }
    const input = { ...what, maxDownloads: readMost(form), ...readTerms(form) }
    const made = mutate(CREATE_LINK, { input })
    await copyLink(
      made.then(({ createLink }) => createLink?.share.url ?? ''),
      text('linkMade'),
    )
    const { createLink } = await made
    if (createLink) onMade?.([createLink.share.id])
    element.reset()
  })
  return (
    <form className="share-form" onSubmit={send}>
      <Terms isSeveral={files.length > 1}>
        <MostDownloads />
      </Terms>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <Button look="primary" type="submit">
        <Link2 />
        {text('makeLink')}
      </Button>
    </form>
  )
}
