/** Characters of a word that are compared. */
const MAX_WORD = 40
export const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts without spaces between words: their texts are indexed by pairs of characters. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const UNSPACED_RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
const ASCII = /^[\t\n\r\x20-\x7e]*$/
/** Letters that Unicode decomposition does not reduce to the letters that people type instead. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  ı: 'i',
  þ: 'th',
  ð: 'd',
}

/** Folds case, accents and compatibility forms, which a search ignores. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøđłıþð]/g, letter => LETTERS[letter] ?? letter)
}

/** A folded word, and its position in the text. */
export interface FoundWord {
  word: string
  start: number
  end: number
}

/** Yields the words of a text in order. */
export function* wordsIn(text: string): Generator<FoundWord> {
  for (const { 0: raw, index } of text.matchAll(WORD)) {
    if (!UNSPACED.test(raw)) {
      const word = fold(raw).slice(0, MAX_WORD)
      if (word !== '') yield { word, start: index, end: index + raw.length }
      continue
    }
    for (const { 0: run, index: at } of raw.matchAll(UNSPACED_RUN)) {
      const start = index + at
      if (!UNSPACED.test(run)) {
        const word = fold(run).slice(0, MAX_WORD)
        if (word !== '') yield { word, start, end: start + run.length }
        continue
      }
      const characters = [...run]
      let from = start
      for (let i = 0; i < Math.max(1, characters.length - 1); i++) {
        const pair = characters.slice(i, i + 2).join('')
        yield { word: fold(pair), start: from, end: from + pair.length }
        from += characters[i]?.length ?? 0
      }
    }
  }
}

/** The maximum number of distinct words that are indexed per text. Books have fewer. */
export const MOST_WORDS = 20_000

/** The distinct words of a text in byte order. */
export function distinctWords(text: string): string[] {
  const words = new Set<string>()
  for (const { word } of wordsIn(text)) if (words.add(word).size === MOST_WORDS) break
  return [...words].sort()
}
