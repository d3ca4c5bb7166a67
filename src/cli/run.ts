import { setMaxListeners } from 'node:events'
import { untilAborted } from '../upload-engine/signal.ts'
import { readEnvironment } from './config.ts'
import { Failure, toFailure } from './failure.ts'
import { type Patience, patienceOf } from './patience.ts'
import { type Colors, colorsFor, jsonLine, plain } from './text.ts'

/** Options of every command. */
export interface GlobalOptions {
  json?: boolean
  verbose?: boolean
  retries: number
  /** URL of the service, if it is not that of the last login. */
  service?: string
}

/** The result of a command, for scripts (`fact`) and for people (`words`). */
export interface Answer {
  fact: object
  /** Nothing is printed if this is empty. */
  words: string
  /** Failures of single items. */
  failures?: Failure[]
}

/** The dependencies of an action. */
export interface Context extends Required<Omit<GlobalOptions, 'service'>> {
  service: string | undefined
  colors: Colors
  patience: Patience
  /** Prints a line to stderr, unless output is JSON. */
  notice(line: string): void
  /** How to resume the command; appended to the message of an interruption. */
  resumeHint: string | undefined
}

/** Failures after which a command can be resumed. */
const resumable = new Set(['INTERRUPTED', 'UNREACHABLE', 'UNAVAILABLE', 'NO_SPACE', 'MAINTENANCE'])

const TIDY_MS = 2000

/** Runs the action of a command, prints its result, and sets the exit code. */
export async function run(
  { json = false, verbose = false, retries, service }: GlobalOptions,
  work: (context: Context) => Promise<Answer | undefined>,
): Promise<void> {
  const environment = readEnvironment()
  const interrupt = new AbortController()
  const deadline = new AbortController()
  // Every pending request adds a listener.
  setMaxListeners(0, interrupt.signal)
  const onSignal = () => {
    // A second signal exits immediately.
    if (interrupt.signal.aborted) process.exit(toFailure(interrupt.signal.reason).exitCode)
    interrupt.abort(new Failure('INTERRUPTED', 'Interrupted.'))
    // Limits the time for cleaning up.
    setTimeout(() => deadline.abort(), TIDY_MS)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)

  const errorColors = colorsFor(process.stderr, environment)
  const notice = (line: string) => {
    if (!json) process.stderr.write(`${plain(line)}\n`)
  }
  const context: Context = {
    json,
    verbose,
    retries,
    service,
    colors: colorsFor(process.stdout, environment),
    patience: patienceOf({
      signal: interrupt.signal,
      retries,
      notice: line => {
        if (verbose || process.stderr.isTTY) context.notice(line)
      },
    }),
    notice,
    resumeHint: undefined,
  }

  const reportFailure = (failure: Failure) => {
    process.exitCode = failure.exitCode
    const { code, details } = failure
    const hint = resumable.has(code) && context.resumeHint ? ` ${context.resumeHint}` : ''
    const message = plain(failure.message + hint)
    const { permanent: _, sent: __, ...shown } = details
    process.stderr.write(
      json
        ? jsonLine({ error: { ...shown, code, message, exitCode: failure.exitCode } })
        : `${errorColors.red('error:')} ${message} ${errorColors.dim(`(${plain(code)})`)}\n`,
    )
  }

  try {
    const answer = await untilAborted(work(context), deadline.signal)
    if (!answer) return
    const { fact, words, failures = [] } = answer
    const failed = failures.map(({ code, message, details }) => ({ ...details, code, message }))
    const text = json
      ? jsonLine(failures.length > 0 ? { ...fact, failed } : fact)
      : words === ''
        ? ''
        : `${words}\n`
    if (text !== '') process.stdout.write(text)
    for (const failure of failures) if (!json) reportFailure(failure)
    if (failures.length > 0) reportFailure(summaryOf(failures))
  } catch (error) {
    reportFailure(toFailure(interrupt.signal.aborted ? interrupt.signal.reason : error))
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
    // Open connections must not keep the process alive.
    if (interrupt.signal.aborted) process.exit()
  }
}

/** Combines several failures into one, with their common exit code if there is one. */
function summaryOf(failures: Failure[]): Failure {
  const [first] = failures
  const exitCode = failures.every(f => f.exitCode === first?.exitCode) ? first?.exitCode : undefined
  return new PartlyFailed(failures.length, exitCode)
}

class PartlyFailed extends Failure {
  readonly #exitCode: number | undefined

  constructor(count: number, exitCode: number | undefined) {
    super('PARTLY_FAILED', `${count} failed; the others are done.`)
    this.#exitCode = exitCode
  }

  override get exitCode(): number {
    return this.#exitCode ?? super.exitCode
  }
}
