import { Button } from './button.tsx'

interface ChoicesProps<Value extends string> {
  label: string
  value: Value
  options: Record<Value, string>
  onChoose: (value: Value) => void
}

/** A segmented control: a few options side by side. */
export const Choices = <Value extends string>({
  label,
  value,
  options,
  onChoose,
}: ChoicesProps<Value>) => (
  <fieldset className="choices" aria-label={label}>
    {(Object.entries(options) as [Value, string][]).map(([option, name]) => (
      <Button
        key={option}
        className="choice"
        aria-pressed={option === value}
        onPress={() => onChoose(option)}
      >
        {name}
      </Button>
    ))}
  </fieldset>
)
