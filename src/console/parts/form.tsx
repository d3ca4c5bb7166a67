import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { text } from './text.ts'
import { useTask } from './use-task.ts'

interface Labelled {
  label: ReactNode
  /** Help text above the field. */
  hint?: ReactNode
}

/** A form field with label and hint. `control` receives the attributes that link them. */
function Field({
  label,
  hint,
  control,
}: Labelled & {
  control: (tied: {
    className: string
    id: string
    'aria-describedby': string | undefined
  }) => ReactNode
}) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {control({ className: 'input', id, 'aria-describedby': hint ? `${id}-hint` : undefined })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

/** A single-line text field. */
export const TextField = ({
  label,
  hint,
  ...input
}: Labelled & InputHTMLAttributes<HTMLInputElement>) => (
  <Field
    label={label}
    hint={hint}
    control={tied => <input autoComplete="off" {...input} {...tied} />}
  />
)

/** A multi-line text field. */
export const TextArea = ({
  label,
  hint,
  ...input
}: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <Field
    label={label}
    hint={hint}
    control={tied => <textarea rows={3} dir="auto" {...input} {...tied} />}
  />
)

/** A select field. */
export function SelectField<Value extends string>({
  label,
  hint,
  options,
  isBare,
  ...select
}: {
  label: string
  hint?: string
  options: readonly (readonly [value: Value, label: string])[]
  /** Hides the label visually, because adjacent text explains the field. */
  isBare?: boolean
} & SelectHTMLAttributes<HTMLSelectElement>) {
  const control = (tied: SelectHTMLAttributes<HTMLSelectElement>) => (
    <select {...select} {...tied} className="input select">
      {options.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  )
  return isBare ? (
    control({ 'aria-label': label })
  ) : (
    <Field label={label} hint={hint} control={control} />
  )
}

/** A checkbox, or a radio button with `type="radio"`. */
export function CheckBox({
  label,
  hint,
  type = 'checkbox',
  ...input
}: Labelled & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="check">
      <input {...input} type={type} id={id} aria-describedby={hint ? `${id}-hint` : undefined} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface FormDialogProps {
  title: string
  /** Label of the submit button. */
  label: string
  isDangerous?: boolean
  isDisabled?: boolean
  /** @throws the error shown in the dialog, which stays open for another try */
  onSubmit: (form: FormData) => Promise<unknown>
  onClose: () => void
  /** Called on success instead of closing the dialog. */
  onDone?: () => void
  children: ReactNode
}

/** A dialog with a form. It closes on success. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    label,
    isDangerous,
    isDisabled,
    onSubmit,
    onClose,
    onDone = onClose,
    children,
  } = props
  const id = useId()
  const { problem, run } = useTask()
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{text('cancel')}</Button>
          {/*
          { * Not disabled while submitting: a disabled button would lose the focus, and the dialog would lose
          { * the keyboard.
          { */}
          <Button
            look={isDangerous ? 'danger' : 'primary'}
            type="submit"
            form={id}
            isDisabled={isDisabled}
          >
            {label}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className="form"
        onSubmit={async event => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          if (await run(() => onSubmit(form))) onDone()
        }}
      >
        {children}
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
      </form>
    </Dialog>
  )
}
