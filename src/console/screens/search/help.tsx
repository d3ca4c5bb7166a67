import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { text } from './text.ts'

const examples = [
  ['invoice march', 'helpWords'],
  ['"final report"', 'helpPhrase'],
  ['minutes -draft', 'helpWithout'],
  ['name:plan', 'helpName'],
  ['type:pdf', 'helpType'],
  ['size:>10mb', 'helpSize'],
  ['before:2026', 'helpBefore'],
  ['after:2026-03', 'helpAfter'],
  ['by:me', 'helpBy'],
  ['in:"Plans 2026/Bridge"', 'helpIn'],
  ['drive:me', 'helpDrive'],
  ['is:shared', 'helpShared'],
  ['tag:urgent', 'helpTag'],
] as const

/** Explains the search syntax, with examples to try. */
export const Help = ({
  onTry,
  onClose,
}: {
  onTry: (example: string) => void
  onClose: () => void
}) => (
  <Dialog title={text('help')} isOpen onClose={onClose} size="wide">
    <p className="soft">{text('helpHint')}</p>
    <dl className="search-help">
      {examples.map(([example, meaning]) => (
        <div key={example}>
          <dt>
            <Button
              look="ghost"
              onPress={() => {
                onClose()
                onTry(example)
              }}
            >
              <code>{example}</code>
            </Button>
          </dt>
          <dd>{text(meaning)}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
