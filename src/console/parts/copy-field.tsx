import { Check, Copy } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from './button.tsx'
import { copy } from './copy.ts'
import { text } from './text.ts'

/** Something to be copied. A page without a secure context has no clipboard: there it can be selected. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const id = useId()
  const [isCopied, setCopied] = useState(false)
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="copy-field">
        <input
          className="input"
          id={id}
          readOnly
          value={value}
          spellCheck={false}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        {navigator.clipboard && (
          <Button autoFocus onPress={async () => setCopied(await copy(value))}>
            {isCopied ? <Check /> : <Copy />}
            {text(isCopied ? 'copied' : 'copy')}
          </Button>
        )}
        <span className="sr" role="status">
          {isCopied && text('copied')}
        </span>
      </div>
    </div>
  )
}
