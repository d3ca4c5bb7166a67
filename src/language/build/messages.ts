import { compileMessage } from '@lingui/message-utils/compileMessage'
import type { Plugin } from 'vite'

/**
 * Parses a message catalogue (ICU MessageFormat) at build time, so that browsers need no parser.
 */
export function compileMessages(json: string): string {
  const messages = Object.entries(JSON.parse(json) as Record<string, string>)
  return JSON.stringify(
    Object.fromEntries(messages.map(([key, message]) => [key, compileMessage(message)])),
  )
}

/** The catalogues in the bundles of the browser, parsed. */
export const messages: Plugin = {
  name: 'messages',
  enforce: 'pre',
  transform: (code, id) =>
    /\/messages\/[a-z]{2}\.json$/.test(id)
      ? { code: `export default ${compileMessages(code)}`, moduleType: 'js', map: null }
      : undefined,
}
