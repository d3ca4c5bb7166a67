import { sharedValue } from '../../parts/shared-value.ts'
import type { Entry } from './documents.ts'

/** Entries that were cut or copied, to be pasted elsewhere. */
export const clipboard = sharedValue<{
  drive: string
  entries: readonly Entry[]
  how: 'move' | 'copy'
} | null>(null)
