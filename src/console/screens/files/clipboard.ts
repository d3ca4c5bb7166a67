import { sharedValue } from '../../parts/shared-value.ts'
import type { Entry } from './documents.ts'

/** What was cut or copied, to be moved or copied where it is pasted. */
export const clipboard = sharedValue<{
  drive: string
  entries: readonly Entry[]
  how: 'move' | 'copy'
} | null>(null)
