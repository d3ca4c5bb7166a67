import { InvalidInput } from '../../runtime/errors.ts'
import { figure, MAX_MESSAGE } from '../../values/limits.ts'
import { oneLine } from '../../values/one-line.ts'

/**
 * Parses a message from one person to another in a mail: lines of text.
 * @throws INVALID_INPUT
 */
export function parseMessage(text: string): string {
  const message = text
    .split(/\r\n?|\n/)
    .map(oneLine)
    .join('\n')
    .trim()
  if (message.length > MAX_MESSAGE)
    throw new InvalidInput('message', `A message has up to ${figure(MAX_MESSAGE)} characters.`)
  return message
}
