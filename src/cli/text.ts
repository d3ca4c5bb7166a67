import pc from 'picocolors'
import { shownText } from '../renderers/shown-text.ts'
import type { Environment } from './config.ts'

/**
 * Replaces control characters, so that foreign names and messages cannot move the cursor, change
 * colours or reverse a line.
 */
export const plain = (text: string): string =>
  shownText(text).replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Surrogate}]/gu, '\uFFFD')

/** One JSON document on one line, with control characters escaped. */
export function jsonLine(value: unknown): string {
  const escaped = (c: string) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(onWire(value)).replace(/[\x7f-\x9f\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escaped)}\n`
}

/** Converts keys to snake_case, as in the REST API. */
function onWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(onWire)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/[A-Z]/g, c => `_${c.toLowerCase()}`),
      onWire(inner),
    ]),
  )
}

export type Colors = ReturnType<typeof pc.createColors>

/** Colours on a terminal, unless NO_COLOR or TERM=dumb is set. */
export const colorsFor = (stream: { isTTY?: boolean }, { noColor, term }: Environment): Colors =>
  pc.createColors(Boolean(stream.isTTY) && !noColor && term !== 'dumb')
