import { useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { FormDialog } from '../parts/form.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { ROTATE_SECRET } from './documents.ts'
import { text } from './text.ts'

/** Asks before rotating the secret of a webhook, and shows the new secret once. */
export function NewSecret({ id, url, onClose }: { id: string; url: string; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null)
  if (secret !== null)
    return (
      <SecretDialog
        title={text('rotated')}
        hint={text('rotatedHint')}
        label={text('secret')}
        secret={secret}
        done={text('done')}
        onClose={onClose}
      />
    )
  return (
    <FormDialog
      title={text('rotateTitle')}
      label={text('rotate')}
      onClose={onClose}
      onDone={() => {}}
      onSubmit={async () => {
        const { rotateWebhookSecret } = await mutate(ROTATE_SECRET, { input: { webhook: id } })
        setSecret(rotateWebhookSecret?.secret ?? '')
      }}
    >
      <p>{text('rotateWhy', { url })}</p>
    </FormDialog>
  )
}
