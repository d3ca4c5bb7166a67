import { existsSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { Config } from './config.ts'

// What the programs of the operator have in common.

/** Ends the process quietly when the reader of its output ends first, as `head` does: otherwise EPIPE is an uncaught error. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

/** Refuses a missing database, which would be created empty in the wrong place. */
export function requireDatabase({ database }: Pick<Config, 'database'>): void {
  if (database.dialect === 'sqlite' && !existsSync(database.file))
    throw new Error(
      `There is no database ${database.file}. Start the service once, or set DATA_DIR or DATABASE_URL as the service has them.`,
    )
}

/** Reads arguments: whole numbers of up to nine digits. */
export const wholeNumber = (least: 0 | 1) => (text: string) => {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`)
}
