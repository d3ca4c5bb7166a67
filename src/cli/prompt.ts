import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Failure } from './failure.ts'
import { plain } from './text.ts'

/**
 * Reads a secret: without echo on a terminal, else all of standard input.
 *
 * @param ifEmpty the error message for empty input
 * @throws USAGE
 */
export async function readSecret(
  question: string,
  signal: AbortSignal,
  ifEmpty = 'The input is empty.',
): Promise<string> {
  const secret = (
    process.stdin.isTTY ? await ask(question, signal, true) : await text(process.stdin)
  ).trim()
  if (secret === '') throw new Failure('USAGE', ifEmpty)
  if (/[\p{Cc}]/u.test(secret)) throw new Failure('USAGE', 'The input has more than one line.')
  return secret
}

/** Reads one line on a terminal. */
export async function ask(question: string, signal: AbortSignal, hidden = false): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: hidden ? nowhere : process.stderr,
    terminal: true,
  })
  // Printed only now, because readline has just turned off the echo.
  process.stderr.write(plain(question))
  // In raw mode, Ctrl-C is a key and not a signal.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  // Ctrl-D is an empty answer.
  const closed = new Promise<string>(answer => lines.once('close', () => answer('')))
  try {
    return await Promise.race([lines.question('', { signal }), closed])
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    lines.close()
    if (hidden) process.stderr.write('\n')
  }
}

/**
 * Asks a yes/no question on a terminal.
 *
 * @param otherwise the error message unless the user says yes
 * @throws USAGE
 */
export async function confirm(
  question: string,
  otherwise: string,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ask(`${question} [y/N] `, signal)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('USAGE', otherwise)
}
