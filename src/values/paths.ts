import { AppError } from '../runtime/errors.ts'

/**
 * Limits of a path: the number of names, the UTF-8 bytes of the path, and the UTF-8 bytes of a
 * name.
 */
export const limits = { names: 32, pathBytes: 1024, nameBytes: 255 } as const

// A byte of a normalised path takes at most one and a half UTF-16 units of input (u, diaeresis and
// macron become two bytes). Longer input is invalid, and refused before its costly normalisation.
const longestInput = 2 * limits.pathBytes

const loneSurrogate = /\p{Surrogate}/u
const control = /\p{Control}/u
// JavaScript and editors treat U+FEFF as white space, although Unicode does not.
const edgeSpace = /^[\p{White_Space}\uFEFF]|[\p{White_Space}\uFEFF]$/u

/**
 * Parses the path of a folder or file.
 * @param text names joined by `/`; leading and trailing slashes are ignored
 * @param field the input that the error names
 * @returns the names, NFC-normalised; empty for the root
 * @throws AppError INVALID_PATH
 */
export function parsePath(text: string, field = 'path'): string[] {
  const inner = normalise(withoutOuterSlashes(text), field)
  if (inner === '') return []
  const names = inner.split('/')
  if (names.length > limits.names)
    throw invalid(field, `A path has at most ${limits.names} names: nest folders less deeply.`)
  for (const name of names) checkName(name, field)
  if (Buffer.byteLength(inner) > limits.pathBytes) throw pathTooLong(field)
  return names
}

/**
 * Parses a path other than the root.
 * @returns one name or more
 * @throws AppError INVALID_PATH
 */
export function parseFilePath(text: string, field = 'path'): [string, ...string[]] {
  const [first, ...rest] = parsePath(text, field)
  if (first === undefined)
    throw invalid(field, 'The path is empty: name a file or a folder, such as docs/a.txt.')
  return [first, ...rest]
}

/**
 * Parses the name of a file or folder.
 * @returns the name, NFC-normalised
 * @throws AppError INVALID_PATH
 */
export function parseName(text: string, field = 'name'): string {
  const name = normalise(text, field)
  if (name.includes('/'))
    throw invalid(field, 'A name cannot contain a slash: give the folder separately.')
  checkName(name, field)
  return name
}

/**
 * Makes a text with undecodable bytes invalid. The decoder replaces such bytes with U+FFFD, so
 * different texts would become equal. A lone surrogate instead fails every rule.
 */
export const markUndecoded = (text: string): string => text.replaceAll('\uFFFD', '\uD800')

/** Joins names to a path without a leading slash: `docs/a.txt`, or an empty text for the root. */
export function joinPath(names: readonly string[]): string {
  return names.join('/')
}

/** Workspace routes return paths with a leading slash: docs/contract.md, section 1. */
export const slashed = (names: readonly string[]): string => `/${joinPath(names)}`

// A loop, because /\/+$/ takes quadratic time on slashes that are followed by other characters.
function withoutOuterSlashes(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text[start] === '/') start++
  while (end > start && text[end - 1] === '/') end--
  return text.slice(start, end)
}

// Normalising the whole path equals normalising each name, because nothing composes with or becomes
// a slash.
function normalise(text: string, field: string): string {
  if (text.length > longestInput) throw pathTooLong(field)
  if (loneSurrogate.test(text))
    throw invalid(
      field,
      'The path is not valid Unicode (it contains half of a surrogate pair): rename it.',
    )
  return text.normalize('NFC')
}

function checkName(name: string, field: string): void {
  if (name === '')
    throw invalid(
      field,
      'A name is empty: put one slash between names, and at least one character.',
    )
  if (name === '.' || name === '..') throw dotsRefused(field)
  if (name.includes('\\'))
    throw invalid(field, 'A name cannot contain a backslash: separate names by / instead.')
  // Forms cannot tell this character from bytes that are not UTF-8, so every interface refuses it.
  if (name.includes('\uFFFD'))
    throw invalid(
      field,
      'A name cannot contain the replacement character \uFFFD, which stands for lost characters: rename it.',
    )
  if (control.test(name))
    throw invalid(field, 'A name cannot contain control characters, such as line breaks or tabs.')
  if (edgeSpace.test(name))
    throw invalid(field, 'A name cannot start or end with white space: remove it.')
  if (Buffer.byteLength(name) > limits.nameBytes)
    throw invalid(
      field,
      `A name has at most ${limits.nameBytes} bytes of UTF-8: use a shorter one.`,
    )
}

function pathTooLong(field: string): AppError {
  return invalid(
    field,
    `A path has at most ${limits.pathBytes} bytes of UTF-8: use shorter names or fewer folders.`,
  )
}

function invalid(field: string, message: string): AppError {
  return new AppError('INVALID_PATH', message, { field })
}

export const dotsRefused = (field: string): AppError =>
  invalid(field, 'The names . and .. are not allowed: write the full path from the top folder.')
