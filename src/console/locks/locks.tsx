import { useId, useState } from 'react'
import { mutate } from '../graphql/run.ts'
import { formatMoment } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { personName } from '../parts/person-name.ts'
import { toast, toastError } from '../parts/toasts.tsx'
import { END_LOCK, type Lock } from './documents.ts'
import { text } from './text.ts'

interface LocksProps {
  locks: readonly Lock[]
  /** The id of the entry whose details are shown. */
  entryId: string
  /** Reloads the locks. */
  reload: () => void
}

/** The WebDAV locks on a file or folder. Nothing is shown if there are none. */
export function Locks({ locks, ...props }: LocksProps) {
  const id = useId()
  if (locks.length === 0) return null
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{text('locks')}</h3>
      <ul className="rows">
        {locks.map(lock => (
          <Line key={lock.id} lock={lock} {...props} />
        ))}
      </ul>
    </section>
  )
}

function Line({ lock, entryId, reload }: { lock: Lock } & Omit<LocksProps, 'locks'>) {
  const [isAsking, setAsking] = useState(false)
  const { id, createdAt, expiresAt, holder, entry, mayEnd } = lock
  const who = holder ? personName(holder) : text('someone')
  const end = async () => {
    try {
      await mutate(END_LOCK, { input: { lock: id } })
      toast({ message: text('ended') })
    } catch (error) {
      toastError(error)
    }
    reload()
  }
  return (
    <li>
      <div className="grow">
        <p dir="auto">{who}</p>
        <p className="soft">
          {text('since', { when: formatMoment(createdAt), end: formatMoment(expiresAt) })}
        </p>
        {entry && entry.id !== entryId && (
          <p className="soft">
            {entry.name ? text('withFolder', { folder: entry.name }) : text('withRoot')}
          </p>
        )}
      </div>
      {mayEnd && (
        <Button aria-label={text('endOf', { who })} onPress={() => setAsking(true)}>
          {text('end')}
        </Button>
      )}
      <Confirm
        title={text('endTitle')}
        isOpen={isAsking}
        label={text('end')}
        onConfirm={() => void end()}
        onClose={() => setAsking(false)}
      >
        <p>{text('endWhy', { who })}</p>
      </Confirm>
    </li>
  )
}
