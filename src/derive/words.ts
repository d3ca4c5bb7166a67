/** Characters of a word that are compared. */
const MAX_WORD = 40
/** Characters that are written inside words and change nothing of them. */
const INVISIBLE = '\\u00ad\\u200c\\u200d\\u2060\\ufeff'
export const WORD = new RegExp(`[\\p{L}\\p{N}\\p{M}][\\p{L}\\p{N}\\p{M}${INVISIBLE}]*`, 'gu')
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30fc\\uff70\\uff9e\\uff9f\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
/** Scripts without spaces between words: their texts are indexed by pairs of characters. */
export const UNSPACED = new RegExp(`[${unspaced}]`, 'u')
const UNSPACED_RUN = new RegExp(
  `[${unspaced}][${unspaced}\\p{M}${INVISIBLE}]*|[^${unspaced}]+`,
  'gu',
)
/** A character of such a script with its marks. Half-width kana have their voicing marks apart. */
const UNIT = new RegExp(
  `[^\\p{M}\\uff9e\\uff9f${INVISIBLE}][\\p{M}\\uff9e\\uff9f${INVISIBLE}]*|[\\p{M}\\uff9e\\uff9f${INVISIBLE}]+`,
  'gu',
)
const ASCII = /^[\t\n\r\x20-\x7e]*$/
/** Most words of most texts, which need none of the rules for others. */
const PLAIN = new RegExp(`^[0-9A-Za-z]{1,${MAX_WORD}}$`)
/** The marks that make another letter of kana are no accents. */
const ACCENTS = /(?![\u3099\u309a])\p{Mn}/gu
const DIGITS = /[^\P{Nd}0-9]/gu
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
  // Arabic and Persian keyboards write these letters differently. The last one only makes words
  // longer.
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ـ: '',
}
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu')
const UNSEEN = new RegExp(`[${INVISIBLE}]`, 'gu')

/** The digit of any script as one of 0 to 9. The ten digits of a script follow each other. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String(code - zero)
}

/** Folds case, accents and compatibility forms, which a search ignores. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(UNSEEN, '')
    .toLowerCase()
    .replace(LETTER, letter => LETTERS[letter] ?? letter)
    .replace(DIGITS, digitOf)
}

/** A folded word, and its position in the text. */
export interface FoundWord {
  word: string
  start: number
  end: number
  /** Whether it is another spelling of the words at its position. */
  isOther?: true
}

/** Particles at the end of Korean words, the longest first. */
const PARTICLES =
  /(?:에서는|에게서|으로는|이라고|에서|에게|까지|부터|보다|처럼|으로|이나|라고|하고|께서|은|는|이|가|을|를|의|에|와|과|도|만|로)$/u
/** The article of Arabic, which is written as a part of the word. */
const ARTICLE = /^\u0627\u0644(?=.{3})/u
const HANGUL = /^[가-힣]{2,}$/u
const UMLAUT = /[äöüÄÖÜ]|[aouAOU]\u0308/
const SPELLED: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue' }

/**
 * Other spellings of a single word: German umlauts as two letters, Korean without particles, Arabic
 * without the article.
 */
export function spellingsOf(raw: string): string[] {
  if (ASCII.test(raw)) return []
  const composed = raw.normalize('NFC')
  if (UMLAUT.test(raw))
    return [folded(composed.toLowerCase().replace(/[äöü]/g, letter => SPELLED[letter] ?? letter))]
  if (ARTICLE.test(composed)) return [folded(composed.replace(ARTICLE, ''))]
  if (!HANGUL.test(composed)) return []
  const bare = composed.replace(PARTICLES, '')
  return bare !== composed && bare.length > 1 ? [folded(bare)] : []
}

/** Words with a hyphen between them, also one at the end of a line. */
const HYPHENATED = /[\p{L}\p{M}\p{N}]+(?:[-\u2010\u2011](?:\r?\n[\t ]*)?[\p{L}\p{M}\p{N}]+)+/gu
/** An international bank account number in groups of four. */
const GROUPED = /\b[A-Z]{2}\d{2}(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,3})?\b/g
/** A longer compound is a list or an identifier. */
const MAX_PARTS = 4

/** Words that are written in parts, as one word. */
export function* joinedWords(text: string): Generator<FoundWord> {
  for (const pattern of [HYPHENATED, GROUPED])
    for (const { 0: raw, index: start } of text.matchAll(pattern)) {
      const parts = raw.match(WORD) ?? []
      if (pattern === HYPHENATED && (parts.length > MAX_PARTS || !/\p{L}/u.test(raw))) continue
      const word = folded(parts.join(''))
      if (word !== '') yield { word, start, end: start + raw.length, isOther: true }
    }
}

/** Yields the words of a text in order. Another spelling follows its word. */
export function* wordsIn(text: string): Generator<FoundWord> {
  for (const { 0: raw, index } of text.matchAll(WORD)) {
    if (PLAIN.test(raw)) {
      yield { word: raw.toLowerCase(), start: index, end: index + raw.length }
      continue
    }
    if (!UNSPACED.test(raw)) {
      yield* wordAt(raw, index)
      continue
    }
    for (const { 0: run, index: at } of raw.matchAll(UNSPACED_RUN)) {
      const start = index + at
      if (!UNSPACED.test(run)) yield* wordAt(run, start)
      else yield* pairsIn(run, start)
    }
  }
}

/** Signs in folded words, as of "⑴". */
const SIGNS = /[^\p{L}\p{N}\p{M}]/gu

/** A word as it is compared. */
const folded = (raw: string): string => fold(raw).replace(SIGNS, '').slice(0, MAX_WORD)

function* wordAt(raw: string, start: number): Generator<FoundWord> {
  const end = start + raw.length
  const word = folded(raw)
  if (word === '') return
  yield { word, start, end }
  for (const other of spellingsOf(raw))
    if (other !== word) yield { word: other, start, end, isOther: true }
}

function* pairsIn(run: string, start: number): Generator<FoundWord> {
  const units = Array.from(run.matchAll(UNIT), ({ 0: unit, index }) => ({
    folded: folded(unit),
    start: start + index,
    end: start + index + unit.length,
  })).filter(unit => unit.folded !== '')
  for (let i = 0; i < Math.max(1, units.length - 1); i++) {
    const some = units.slice(i, i + 2)
    const [first, last] = [some[0], some.at(-1)]
    if (first && last)
      yield {
        word: some.map(unit => unit.folded).join(''),
        start: first.start,
        end: last.end,
      }
  }
}
