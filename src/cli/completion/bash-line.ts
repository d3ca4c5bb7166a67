/** A bash command line up to the cursor. */
export interface BashLine {
  /** Unquoted; the last one is at the cursor, and may be empty. */
  words: string[]
  /** The beginning of the last word that bash keeps. A completion replaces only the rest. */
  kept: string
  /** The open quote at the cursor. */
  quote: '' | '"' | "'"
  /** Whether the last word is the target of a redirection. */
  isRedirect: boolean
}

/**
 * Splits a line like bash, without expansion.
 *
 * @param breaks $COMP_WORDBREAKS: a completion replaces only the text after such a character
 */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = []
  let word: string | undefined
  let kept = ''
  let keptBefore = ''
  let quote: BashLine['quote'] = ''
  let isRedirect = false
  for (let i = 0; i < line.length; i++) {
    const c = line[i] ?? ''
    const next = line[i + 1] ?? ''
    if (c === quote) {
      quote = ''
      kept = keptBefore
    } else if (quote === "'" || (quote === '"' && !(c === '\\' && /["$`\\]/.test(next)))) word += c
    else if (c === '\\') {
      word = (word ?? '') + next
      i++
    } else if (c === '"' || c === "'") {
      word ??= ''
      quote = c
      keptBefore = kept
      kept = word
    } else if (c === '<' || c === '>') {
      word = undefined
      kept = ''
      isRedirect = true
    } else if (/\s/.test(c)) {
      if (word === undefined) continue
      if (!isRedirect) words.push(word)
      word = undefined
      kept = ''
      isRedirect = false
    } else {
      word = (word ?? '') + c
      if (breaks.includes(c)) kept = word
    }
  }
  words.push(word ?? '')
  return { words, kept, quote, isRedirect }
}

/** Quotes text for bash within the open quote, which bash closes itself. */
export function quoteForBash(text: string, quote: BashLine['quote']): string {
  if (quote === "'") return text.replaceAll("'", `'\\''`)
  if (quote === '"') return text.replace(/["$`\\]/g, '\\$&').replaceAll('!', '"\\!"')
  return text.replace(/[ !"#$&'()*;<>?[\\\]^`{|}~]/g, '\\$&')
}
