import { formatMoment } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { copy } from '../parts/copy.ts'
import { Check, Copy } from '../parts/icons.ts'
import { toast } from '../parts/toasts.tsx'
import type { FileRequest } from './documents.ts'
import { text } from './text.ts'

/** How many expected senders have sent something, and who has not. */
export function countsOf({ senders }: Pick<FileRequest, 'senders'>) {
  const expected = (senders ?? []).filter(({ isExpected }) => isExpected)
  const missing = expected.filter(({ fileCount }) => fileCount === 0)
  return { expected: expected.length, arrived: expected.length - missing.length, missing }
}

/** A text that asks the missing senders for their files. */
export function reminderOf(request: FileRequest): string {
  const { label, url, expiresAt } = request
  const names = countsOf(request).missing.map(({ name }) => name)
  return text(expiresAt === null ? 'reminder' : 'reminderUntil', {
    label,
    names: names.join(', '),
    url,
    when: expiresAt === null ? '' : formatMoment(expiresAt),
  })
}

/** The expected senders, marked if something has arrived, and a reminder for the others. */
export function Senders({ request }: { request: FileRequest }) {
  const { expected, missing } = countsOf(request)
  if (expected === 0) return null
  const remind = async () => {
    if (await copy(reminderOf(request))) toast({ message: text('reminderCopied') })
  }
  return (
    <div className="request-senders">
      <ul aria-label={text('expected')}>
        {(request.senders ?? []).map(({ name, isExpected, fileCount }) => (
          <li
            key={`${isExpected} ${name}`}
            className={`chip${fileCount > 0 ? '' : ' soft'}${isExpected ? '' : ' other'}`}
          >
            {fileCount > 0 && <Check aria-hidden />}
            <bdi>{name || text('noName')}</bdi>
            <span className="sr">
              {fileCount > 0 ? text('hasSent', { count: fileCount }) : text('isMissing')}
            </span>
            {!isExpected && <span className="soft">{text('notExpected')}</span>}
          </li>
        ))}
      </ul>
      {missing.length > 0 && (
        <Button onPress={() => void remind()}>
          <Copy />
          {text('copyReminder')}
        </Button>
      )}
    </div>
  )
}
