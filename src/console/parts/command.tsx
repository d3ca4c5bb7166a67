import './command.css'
import { CopyButton } from './copy-button.tsx'
import { text } from './text.ts'

/** A shell command to copy. */
export const Command = ({ title, command }: { title: string; command: string }) => (
  <div className="command">
    <h3>{title}</h3>
    <div className="command-line">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable by keyboard */}
      <pre tabIndex={0} dir="ltr">
        <code>{command}</code>
      </pre>
      <CopyButton value={command} label={text('copyOf', { title })} />
    </div>
  </div>
)
