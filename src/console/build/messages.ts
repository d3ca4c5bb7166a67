import { compileMessage } from '@lingui/message-utils/compileMessage'

/**
 * Parses the messages of a catalogue (ICU MessageFormat) while the console is built, so that no
 * browser has to.
 */
export function compileMessages(json: string): string {
  const messages = Object.entries(JSON.parse(json) as Record<string, string>)
  return JSON.stringify(
    Object.fromEntries(messages.map(([key, message]) => [key, compileMessage(message)])),
  )
}
