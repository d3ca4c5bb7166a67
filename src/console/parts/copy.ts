import { text } from './text.ts'
import { toast } from './toasts.tsx'

/**
 * Puts something into the clipboard, and answers whether it is there.
 * @param refused is said when the browser does not allow it
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
