import { text } from './text.ts'
import { toast } from './toasts.tsx'

/**
 * Copies text to the clipboard, and returns whether that worked.
 *
 * @param refused shown when the browser does not allow it
 */
export async function copy(value: string, refused = text('notCopied')): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value)
    return true
  } catch {
    toast({ tone: 'error', message: refused })
    return false
  }
}

/**
 * Copies a link to the clipboard and shows a toast. Safari allows this only during a click, so the
 * clipboard gets a promise if the link is still being created.
 *
 * @param said shown instead of the default message
 * @param undo what the toast offers to undo
 * @throws the error that rejects the promise
 */
export async function copyLink(
  url: string | Promise<string>,
  said = text('linkCopied'),
  undo?: () => void,
): Promise<void> {
  try {
    const plain = Promise.resolve(url).then(value => new Blob([value], { type: 'text/plain' }))
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': plain })])
    toast({ message: said, ...(undo ? { undo } : {}) })
  } catch {
    toast({ tone: 'error', message: text('linkNotCopied', { url: await url }) })
  }
}
