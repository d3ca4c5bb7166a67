import { toast } from '../parts/toasts.tsx'
import { text } from './text.ts'

/** Puts the address of a share into the clipboard. A browser may refuse that. */
export async function copyAddress(url: string, said = text('copied')): Promise<void> {
  try {
    await navigator.clipboard.writeText(url)
    toast({ message: said })
  } catch {
    toast({ tone: 'error', message: text('notCopied', { url }) })
  }
}
