import { existsSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import type { Config } from '../config/config.ts'

// Shared parts of the operator's programs.

/**
 * Ends the process quietly when the reader of its output ends first, like `head`. Otherwise EPIPE
 * is an uncaught error.
 */
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

/**
 * Parses whole-number arguments, like the users' command line, which shares no code with the
 * service.
 */
export const wholeNumber = (least: 0 | 1) => (text: string) => {
  if (/^(0|[1-9]\d{0,8})$/.test(text) && Number(text) >= least) return Number(text)
  throw new InvalidArgumentError(
    `Write a whole number from ${least} to 999999999, in digits without leading zeros, such as 20.`,
  )
}
