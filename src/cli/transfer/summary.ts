import type { Context } from '../run.ts'
import { bytes, plural } from '../table.ts'
import { plain } from '../text.ts'

/** A transferred file. */
export interface Transferred {
  source: string
  path: string
  size: number
  status: string
}

const wasThere = ({ status }: Transferred): boolean => status === 'unchanged'

/** The line of one file, for -v. */
export const lineOf = (file: Transferred): string =>
  `${file.source} -> ${file.path} (${bytes(file.size)}${wasThere(file) ? ', unchanged' : ''})`

/** A summary, unless each file had its own line. */
export function summaryOf(done: Transferred[], { verbose }: Context): string {
  const [first] = done
  if (!first || (verbose && !process.stderr.isTTY)) return ''
  if (done.length === 1) return plain(first.path)
  const total = done.reduce((sum, { size }) => sum + size, 0)
  const before = done.filter(wasThere).length
  return `${plural(done.length, 'file')} (${bytes(total)})${before > 0 ? `, ${before} unchanged` : ''}`
}
