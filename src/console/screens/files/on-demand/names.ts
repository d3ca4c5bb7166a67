import { text } from './text.ts'

/**
 * A name as it was typed, without the white space around it. @throws why no entry can have it: a
 * slash would say where it is
 */
export function nameFrom(typed: string): string {
  const name = typed.trim()
  if (/[/\\]/.test(name)) throw new Error(text('nameWithSlash'))
  return name
}
