import { useId } from 'react'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { copyLink } from '../parts/copy.ts'
import { Link2 } from '../parts/icons.ts'
import { useTask } from '../parts/use-task.ts'
import { CREATE_LINK } from './documents.ts'
import { readTerms, Terms } from './terms.tsx'
import { text } from './text.ts'

/** Makes a link with which everybody may download a file. */
export function LinkForm({ file }: { file: { id: string } }) {
  const id = useId()
  const { problem, submit } = useTask()
  const send = submit(async (form, element) => {
    const most = Number(form.get('most'))
    const input = { file: { id: file.id }, maxDownloads: most > 0 ? most : null, ...readTerms(form) }
    const made = mutate(CREATE_LINK, { input })
    await copyLink(
      made.then(({ createLink }) => createLink?.share.url ?? ''),
      text('linkMade'),
    )
    element.reset()
  })
  return (
    <form className="share-form" onSubmit={send}>
      <Terms>
        <div className="field">
          <label htmlFor={`${id}-most`}>{text('mostDownloads')}</label>
          <input
            className="input"
            id={`${id}-most`}
            name="most"
            type="number"
            inputMode="numeric"
            min={1}
            max={1_000_000_000}
            step={1}
            placeholder={text('unlimited')}
          />
        </div>
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
