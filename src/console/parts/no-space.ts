import { formatBytes } from '../i18n/format.ts'
import { text } from './text.ts'

/** The message that a drive is full, and what to do. Sizes in bytes. */
export const noSpace = (used: number, max: number): string =>
  text('full', { used: formatBytes(used), max: formatBytes(max) })
