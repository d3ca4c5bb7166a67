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
  /** What there is to know before one fills it in. */
  hint?: ReactNode
}

/** Something to type into, with its label and hint: `control` is given what ties them together. */
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

/** A line of text with its label. */
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

/** Some lines of text with their label. */
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

/** One of a few. */
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
  /** Without a label to be seen: what stands beside it says what it is. */
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

/** A box to tick, or with `type="radio"` one of several. */
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
  /** What the button says, and does. */
  label: string
  isDangerous?: boolean
  isDisabled?: boolean
  /** @throws what is shown in the dialog, which stays open for another try */
  onSubmit: (form: FormData) => Promise<unknown>
  onClose: () => void
  /** Instead of closing it. */
  onDone?: () => void
  children: ReactNode
}

/** A dialog with fields. It closes when what was asked for is done. */
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
          {/* Not disabled while it works: it would lose the focus, and the dialog with it the keyboard. */}
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
