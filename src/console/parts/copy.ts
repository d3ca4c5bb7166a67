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

/**
 * Puts an address into the clipboard, and says so. Safari lets a page copy during a press alone:
 * what the service has yet to make is promised to the clipboard.
 * @param said instead of that it is copied
 * @throws what the promise of the address is rejected with
 */
export async function copyLink(
  url: string | Promise<string>,
  said = text('linkCopied'),
): Promise<void> {
  try {
    const plain = Promise.resolve(url).then(value => new Blob([value], { type: 'text/plain' }))
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': plain })])
    toast({ message: said })
  } catch {
    toast({ tone: 'error', message: text('linkNotCopied', { url: await url }) })
  }
}
