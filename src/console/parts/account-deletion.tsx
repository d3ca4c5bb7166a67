import { useState } from 'react'
import { CheckBox, FormDialog, TextField } from './form.tsx'

interface Props {
  email: string
  title: string
  /** The label of the button that deletes. */
  label: string
  warning: string
  legend: string
  /** What becomes of the files. The first choice is chosen at first. */
  choices: { value: 'keep' | 'delete'; label: string; hint: string }[]
  addressLabel: string
  onClose: () => void
  onSubmit: (deletesFiles: boolean) => Promise<void>
}

/** Deletes an account after its e-mail address has been typed. */
export function AccountDeletion({
  email,
  title,
  label,
  warning,
  legend,
  choices,
  addressLabel,
  onClose,
  onSubmit,
}: Props) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={title}
      label={label}
      isDangerous
      isDisabled={typed.trim().toLowerCase() !== email.toLowerCase()}
      onClose={onClose}
      onSubmit={form => onSubmit(form.get('files') === 'delete')}
    >
      <p>{warning}</p>
      <fieldset>
        <legend>{legend}</legend>
        {choices.map((choice, i) => (
          <CheckBox
            key={choice.value}
            type="radio"
            name="files"
            defaultChecked={i === 0}
            {...choice}
          />
        ))}
      </fieldset>
      <TextField
        label={addressLabel}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        inputMode="email"
        dir="ltr"
      />
    </FormDialog>
  )
}
