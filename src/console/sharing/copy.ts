import { copy } from '../parts/copy.ts'
import { toast } from '../parts/toasts.tsx'
import { text } from './text.ts'

/** Puts the address of a share into the clipboard. */
export async function copyAddress(url: string, said = text('copied')): Promise<void> {
  if (await copy(url, text('notCopied', { url }))) toast({ message: said })
}
