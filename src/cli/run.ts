import { setMaxListeners } from 'node:events'
import { readEnvironment } from './config.ts'
import { Failure, toFailure } from './failure.ts'
import type { Patience } from './retry.ts'
import { whileOpen } from './signal.ts'
import { type Colors, colorsFor, jsonLine, plain } from './text.ts'

/** Options that every command has. */
export interface GlobalOptions {
  json?: boolean
  verbose?: boolean
  retries: number
  /** The address of another service than that of the last login. */
  service?: string
}

/** What came of a command, for scripts and for people. */
export interface Answer {
  fact: object
  /** Nothing is said where this is empty. */
  words: string
  /** What could not be done, of several things. */
  failures?: Failure[]
}

/** What a command is given to work with. */
export interface Context extends Required<Omit<GlobalOptions, 'service'>> {
  service: string | undefined
  colors: Colors
  patience: Patience
  /** A line for whoever watches, on stderr, so that it is in nobody's way. */
  notice(line: string): void
  /** What else to say when the command is interrupted, by whatever: how to go on. */
  resumeHint: string | undefined
}

/** After these a command can go on where it was. */
const resumable = new Set(['INTERRUPTED', 'UNREACHABLE', 'UNAVAILABLE'])

const TIDY_MS = 2000

/** Does the work of a command, and says what came of it. The process ends with the exit code that says the same. */
export async function run(
  { json = false, verbose = false, retries, service }: GlobalOptions,
  work: (context: Context) => Promise<Answer | undefined>,
): Promise<void> {
  const environment = readEnvironment()
  const interrupt = new AbortController()
  const deadline = new AbortController()
  // Every call that may be ended listens.
  setMaxListeners(0, interrupt.signal)
  const onSignal = () => {
    // Whoever asks twice does not want to wait.
    if (interrupt.signal.aborted) process.exit(toFailure(interrupt.signal.reason).exitCode)
    interrupt.abort(new Failure('INTERRUPTED', 'Interrupted.'))
    // Tidying up takes a moment, and no longer.
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
    patience: {
      signal: interrupt.signal,
      retries,
      notice: line => {
        if (verbose || process.stderr.isTTY) context.notice(line)
      },
    },
    notice,
    resumeHint: undefined,
  }

  const complain = (failure: Failure) => {
    process.exitCode = failure.exitCode
    const { code, details } = failure
    const hint = resumable.has(code) && context.resumeHint ? ` ${context.resumeHint}` : ''
    const message = plain(failure.message + hint)
    const { permanent: _, sent: __, ...told } = details
    process.stderr.write(
      json
        ? jsonLine({ error: { ...told, code, message, exitCode: failure.exitCode } })
        : `${errorColors.red('error:')} ${message} ${errorColors.dim(`(${plain(code)})`)}\n`,
    )
  }

  try {
    const answer = await whileOpen(work(context), deadline.signal)
    if (!answer) return
    const { fact, words, failures = [] } = answer
    const failed = failures.map(({ code, message, details }) => ({ ...details, code, message }))
    const text = json ? jsonLine(failures.length > 0 ? { ...fact, failed } : fact) : words === '' ? '' : `${words}\n`
    if (text !== '') process.stdout.write(text)
    for (const failure of failures) if (!json) complain(failure)
    if (failures.length > 0) complain(summaryOf(failures))
  } catch (error) {
    complain(toFailure(interrupt.signal.aborted ? interrupt.signal.reason : error))
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
    // What is still open to the network must not keep it.
    if (interrupt.signal.aborted) process.exit()
  }
}

/** Several failures are one of their kind, when they all are. */
function summaryOf(failures: Failure[]): Failure {
  const [first] = failures
  const exitCode = failures.every(f => f.exitCode === first?.exitCode) ? first?.exitCode : undefined
  return new PartlyFailed(failures.length, exitCode)
}

class PartlyFailed extends Failure {
  readonly #exitCode: number | undefined

  constructor(count: number, exitCode: number | undefined) {
    super('PARTLY_FAILED', `${count} could not be done; the rest is done.`)
    this.#exitCode = exitCode
  }

  override get exitCode(): number {
    return this.#exitCode ?? super.exitCode
  }
}
