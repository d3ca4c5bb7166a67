import type { WordTable } from './tables.ts'

/** The columns of the tables with words. */
export type Column =
  | 'word'
  | 'part'
  | 'mark'
  | 'start'
  | 'letters'
  | 'text'
  | 'note'
  | 'name'
  | 'extra'
  | 'stem'

/** Words in sequence, in one of some columns. */
interface Words {
  in: readonly Column[]
  words: readonly string[]
  /** Whether the last word is a prefix. */
  isPrefix?: boolean
  /** Whether the column begins with the words. */
  isStart?: boolean
}

/** A condition on the words of a row. */
export type Condition =
  | Words
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { is: Condition; not: Condition }

/** What to look for, and in which table. */
export interface Wanted {
  table: WordTable
  condition: Condition
}

/** Whether a part of a condition is a prefix, which costs more. */
export function hasPrefix(condition: Condition): boolean {
  if ('all' in condition) return condition.all.some(hasPrefix)
  if ('any' in condition) return condition.any.some(hasPrefix)
  if ('is' in condition) return hasPrefix(condition.is) || hasPrefix(condition.not)
  return condition.isPrefix === true
}

/** A condition as FTS5 reads it. Words have only letters, digits and marks. */
export function expressionOf(condition: Condition): string {
  if ('all' in condition) return joined(condition.all, 'AND')
  if ('any' in condition) return joined(condition.any, 'OR')
  if ('is' in condition) return `(${expressionOf(condition.is)} NOT ${expressionOf(condition.not)})`
  const { words, isPrefix = false, isStart = false } = condition
  const text = words.map(word => word.replaceAll('"', '')).join(' ')
  const phrase = `${isStart ? '^ ' : ''}"${text}"${isPrefix ? ' *' : ''}`
  // The only column of its table, which keeps no positions.
  if (condition.in.includes('letters')) return phrase
  return `({${condition.in.join(' ')}} : ${phrase})`
}

const joined = (conditions: readonly Condition[], by: 'AND' | 'OR'): string =>
  `(${conditions.map(expressionOf).join(` ${by} `)})`
