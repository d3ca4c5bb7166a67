import { TextArea, TextField } from '../parts/form.tsx'
import { MAX_LABEL, MAX_MESSAGE } from '../parts/limits.ts'
import { text } from './text.ts'

interface PageWordsProps {
  title?: string
  message?: string
}

/** What the page of a share says to its visitors. */
export function PageWords({ title = '', message = '' }: PageWordsProps) {
  return (
    <>
      <TextField
        label={text('title')}
        hint={text('titleHint')}
        name="title"
        maxLength={MAX_LABEL}
        defaultValue={title}
      />
      <TextArea
        label={text('message')}
        hint={text('messageHint')}
        name="message"
        maxLength={MAX_MESSAGE}
        defaultValue={message}
      />
    </>
  )
}

/** Reads the fields. */
export const readPageWords = (form: FormData) => ({
  title: String(form.get('title') ?? '').trim(),
  message: String(form.get('message') ?? '').trim(),
})
