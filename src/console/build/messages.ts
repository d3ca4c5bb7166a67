import { compileMessage } from '@lingui/message-utils/compileMessage'

/**
 * Parses a message catalogue (ICU MessageFormat) at build time, so that browsers need no parser.
 */
export function compileMessages(json: string): string {
  const messages = Object.entries(JSON.parse(json) as Record<string, string>)
  return JSON.stringify(
    Object.fromEntries(messages.map(([key, message]) => [key, compileMessage(message)])),
  )
}
