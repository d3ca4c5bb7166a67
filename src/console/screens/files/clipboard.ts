import { sharedValue } from '../../parts/shared-value.ts'
import type { Entry } from './documents.ts'

/** What was cut, to be moved where it is pasted. */
export const cut = sharedValue<{ drive: string; entries: readonly Entry[] } | null>(null)
