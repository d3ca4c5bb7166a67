import { TextArea, TextField } from '../parts/form.tsx'
import { MAX_LABEL, MAX_MESSAGE } from '../parts/limits.ts'
import { text } from './text.ts'

/** The heading of the page of a share. */
export const TitleField = ({ title = '' }: { title?: string }) => (
  <TextField
    label={text('title')}
    hint={text('titleHint')}
    name="title"
    maxLength={MAX_LABEL}
    defaultValue={title}
  />
)

/** What the page of a share says to its visitors. */
export const MessageField = ({ message = '' }: { message?: string }) => (
  <TextArea
    label={text('message')}
    hint={text('messageHint')}
    name="message"
    rows={2}
    maxLength={MAX_MESSAGE}
    defaultValue={message}
  />
)

/** Reads the fields. */
export const readPageWords = (form: FormData) => ({
  title: String(form.get('title') ?? '').trim(),
  message: String(form.get('message') ?? '').trim(),
})
