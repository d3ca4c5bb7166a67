import { inParts } from '../graphql/in-parts.ts'
import { ask, mutate } from '../graphql/run.ts'
import { toast, toastError, toastLive } from '../parts/toasts.tsx'
import { CANCEL_COPY, COPY_NOW, type CopyState, REMOVE_COPIES } from './documents.ts'
import { text } from './text.ts'

interface Made {
  id: string
}

/** Polling interval for a copy that runs in the background. */
const LOOK_MS = 1000

/**
 * Shows a toast about new copies. Undo deletes them.
 *
 * @param after called after an undo
 */
export function sayCopied(
  message: string,
  copies: readonly Made[],
  after: () => void = () => {},
): void {
  const undo = async () => {
    for (const part of inParts(copies))
      await mutate(REMOVE_COPIES, {
        input: { entries: part.map(({ id }) => ({ id })), recursive: true },
      })
  }
  toast({ message, undo: () => void undo().catch(toastError).finally(after) })
}

/**
 * Returns the copies of a mutation. While the service copies in the background, a toast shows the
 * progress and a Cancel button. Returns null if the copy was cancelled.
 *
 * @throws the reason why the copy failed
 */
export async function copiesOf<Copy extends Made>(
  answer: { entries: readonly Copy[] | null; copy: CopyState | null } | null | undefined,
): Promise<readonly Made[] | null> {
  if (!answer?.copy) return answer?.entries ?? []
  let now = answer.copy
  const words = () => text('copying', { done: now.copiedCount, count: now.entryCount })
  const cancel = () => void mutate(CANCEL_COPY, { input: { copy: now.id } }).catch(toastError)
  const { say, end } = toastLive({
    message: words(),
    action: { label: text('cancel'), run: cancel },
  })
  try {
    while (now.state === 'COPYING') {
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
      const { node } = await ask(COPY_NOW, { id: now.id })
      if (node?.__typename !== 'BackgroundCopy') return null
      now = node
      say(words())
    }
  } finally {
    end()
  }
  if (now.failure) throw new Error(now.failure.message)
  return now.state === 'DONE' ? (now.entries ?? []) : null
}
