import type { Context } from '../run.ts'
import { bytes, plural } from '../table.ts'
import { plain } from '../text.ts'

/** A file that has gone where it was to go. */
export interface Transferred {
  source: string
  path: string
  size: number
  status: string
}

const wasThere = ({ status }: Transferred): boolean => status === 'unchanged'

/** One file, as somebody may follow it. */
export const lineOf = (file: Transferred): string =>
  `${file.source} -> ${file.path} (${bytes(file.size)}${wasThere(file) ? ', unchanged' : ''})`

/** All of them, for whoever has not followed them. */
export function summaryOf(done: Transferred[], { verbose }: Context): string {
  const [first] = done
  if (!first || (verbose && !process.stderr.isTTY)) return ''
  if (done.length === 1) return plain(first.path)
  const total = done.reduce((sum, { size }) => sum + size, 0)
  const before = done.filter(wasThere).length
  return `${plural(done.length, 'file')} (${bytes(total)})${before > 0 ? `, ${before} of them there before` : ''}`
}
