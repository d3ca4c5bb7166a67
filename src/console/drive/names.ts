import { text } from './text.ts'

/**
 * Trims a typed name.
 *
 * @throws if the name is invalid, for example because it contains a slash
 */
export function nameFrom(typed: string): string {
  const name = typed.trim()
  if (/[/\\]/.test(name)) throw new Error(text('nameWithSlash'))
  return name
}
