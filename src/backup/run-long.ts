import type { Command } from 'commander'
import { type Config, loadConfig } from '../config/config.ts'
import { BackupError } from './problem.ts'
import type { Progress } from './progress.ts'
import { startProgress } from './show-progress.ts'

/** The result of a command. */
export interface Answer {
  fact: object
  words: string
  /** Whether files are missing or damaged. */
  problems?: boolean
  /** The exit code if there are no problems; 0 by default. */
  exitCode?: number
}

/**
 * Runs a command that copies blobs, shows its progress, and prints its result. Exit code: 1 if it
 * is refused or finds problems, 2 if it fails.
 * @param explained adds advice to an error
 */
export async function runLong(
  program: Command,
  work: (config: Config, progress: Progress) => Promise<Answer>,
  explained: (thrown: unknown) => unknown = thrown => thrown,
): Promise<void> {
  const { json } = program.opts<{ json: boolean }>()
  const progress = await startProgress({ quiet: json })
  try {
    const { fact, words, problems, exitCode = 0 } = await work(loadConfig(), progress)
    progress.stop()
    process.stdout.write(`${json ? JSON.stringify(fact) : words}\n`)
    process.exitCode = problems ? 1 : exitCode
  } catch (thrown) {
    progress.stop()
    const error = explained(thrown)
    const refused = error instanceof BackupError
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${refused ? '' : 'It failed: '}${message}\n`)
    process.exitCode = refused ? 1 : 2
  }
}
