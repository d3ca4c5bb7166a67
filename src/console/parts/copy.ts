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

/** Puts an address into the clipboard, and says so. @param said instead of that it is copied */
export async function copyLink(url: string, said = text('linkCopied')): Promise<void> {
  if (await copy(url, text('linkNotCopied', { url }))) toast({ message: said })
}
