import { sharedValue } from '../parts/shared-value.ts'

/**
 * Whether a text with unsaved changes is open. Screens then keep it on the page, even if its folder
 * can no longer be read.
 */
export const hasUnsaved = sharedValue(false)
