import { inParts } from '../graphql/in-parts.ts'
import { ask, mutate } from '../graphql/run.ts'
import { toast, toastError, toastLive } from '../parts/toasts.tsx'
import { CANCEL_COPY, COPY_NOW, type CopyState, REMOVE_COPIES } from './documents.ts'
import { text } from './text.ts'

interface Made {
  id: string
}

/** Between two looks at a copy that the service makes in the background. */
const LOOK_MS = 1000

/**
 * Says that there are copies, and takes them away again where that is undone. @param after is
 * called then
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
 * The copies of an answer, once they are there: where they are many, it says meanwhile how far they
 * are, and takes a cancellation. Answers null for a copy that was cancelled. @throws why there are
 * none
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
