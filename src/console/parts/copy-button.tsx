import { useState } from 'react'
import { Button } from './button.tsx'
import { copy } from './copy.ts'
import { Check, Copy } from './icons.ts'
import { text } from './text.ts'

interface CopyButtonProps {
  value: string
  /** Names what is copied if "Copy" alone is unclear. */
  label?: string
  autoFocus?: boolean
}

/** Copies a value. Insecure pages have no clipboard API, so they have no button. */
export function CopyButton({ value, label, autoFocus = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false)
  return (
    <>
      {navigator.clipboard && (
        <Button
          {...(label ? { 'aria-label': label } : {})}
          autoFocus={autoFocus}
          onPress={async () => setCopied(await copy(value))}
        >
          {isCopied ? <Check /> : <Copy />}
          {text(isCopied ? 'copied' : 'copy')}
        </Button>
      )}
      <span className="sr" role="status">
        {isCopied && text('copied')}
      </span>
    </>
  )
}
