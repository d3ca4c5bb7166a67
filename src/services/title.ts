import { InvalidInput } from '../runtime/errors.ts'

/** Reads a name that a person gives to something that is no file. @throws INVALID_INPUT */
export function parseTitle(text: string, longest: number): string {
  const name = text.trim()
  if (name === '' || [...name].length > longest || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new InvalidInput('name', `A name has 1 to ${longest} characters, on one line.`)
  return name
}
