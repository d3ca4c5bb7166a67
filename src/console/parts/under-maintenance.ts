import { formatExact } from '../i18n/format.ts'
import { text } from './text.ts'

/** The message that nothing can be changed, and until when. */
export const underMaintenance = (until: string): string =>
  text('maintenance', { until: formatExact(until) })
