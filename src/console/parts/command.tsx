import './command.css'
import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { copy } from './copy.ts'
import { text } from './text.ts'

/** A command for a shell, to be copied. */
export function Command({ title, command }: { title: string; command: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <div className="command">
      <h3>{title}</h3>
      <div className="command-line">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard */}
        <pre tabIndex={0} dir="ltr">
          <code>{command}</code>
        </pre>
        {navigator.clipboard && (
          <Button aria-label={text('copyOf', { title })} onPress={async () => setCopied(await copy(command))}>
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
