import { decodeAs } from './code-page.ts'
import { type WideWriting, type Writing, wideWritings, writings } from './writing.ts'

/** The bytes that are compared. */
const SAMPLE = 3 * 1024

/*
 * Logarithms of probabilities, measured with translations of programs into 36 languages. Texts in
 * different character sets are compared by the sum over all characters beyond ASCII.
 */
const IMPOSSIBLE = -14
const FOREIGN = -9
const SYMBOL = -5
const ODD_SYMBOL = -9
/** A letter beyond ASCII in a Latin script, and one that follows another. */
const SPARSE = -2.5
const DENSE = -1.5
/** Such a letter between its usual neighbours, or others. */
const USUAL = 0.8
const UNUSUAL = -1.5
/** A letter beside one of another script, or an upper-case letter behind a lower-case one. */
const MIXED = -4
const CASE = -4
const CAPITAL = -1.2
/** An ASCII letter in a text of another script, and the most that all of them cost. */
const ASCII_LETTER = -0.25
const ASCII_LETTERS = -8
/** Parts of frames, in texts of MS-DOS. */
const FRAME_RUN = -1.5
const FRAME_PART = -7

const symbols = new Set('€„“”‚‘’–—…«»°§©®™·•\u00a0½¼²³±×µ№₪฿£¥')
const withinWords = new Set('’·\u00ad\u200c')

/**
 * The lines with bytes beyond ASCII, up to a limit. No character of two bytes contains a line
 * break.
 */
function sampleOf(bytes: Uint8Array): { sample: Uint8Array; isCut: boolean } {
  const sample = new Uint8Array(SAMPLE)
  let size = 0
  for (let start = 0; start < bytes.length && size < SAMPLE; ) {
    const end = bytes.indexOf(10, start)
    const line = bytes.subarray(start, end < 0 ? bytes.length : end + 1)
    if (line.some(byte => byte > 127)) {
      const part = line.subarray(0, SAMPLE - size)
      sample.set(part, size)
      size += part.length
    }
    start += line.length
  }
  return { sample: sample.subarray(0, size), isCut: size === SAMPLE }
}

type Sort = 'ascii' | 'letter' | 'frame' | 'control' | 'symbol' | 'other'
interface Fact {
  sort: Sort
  isLetter: boolean
  isUpper: boolean
  lower: string
}

function factOf(character: string): Fact {
  const lower = character.toLowerCase()
  const isLetter = /^[\p{L}\p{M}]$/u.test(character)
  const sort =
    character <= '\u007f'
      ? 'ascii'
      : isLetter
        ? 'letter'
        : /[\u2500-\u259f]/.test(character)
          ? 'frame'
          : character <= '\u009f' || /[\ue000-\uf8ff\ufffd]/.test(character)
            ? 'control'
            : symbols.has(character)
              ? 'symbol'
              : 'other'
  return { sort, isLetter, isUpper: character !== lower, lower }
}

const facts = new Map<string, Fact>()
function known(character: string): Fact {
  let fact = facts.get(character)
  if (!fact) {
    fact = factOf(character)
    facts.set(character, fact)
  }
  return fact
}
const nothing: Fact = { sort: 'ascii', isLetter: false, isUpper: false, lower: ' ' }

/** A letter beyond ASCII in a text. */
interface FoundLetter {
  lower: string
  /** The letters before and behind with this letter. */
  context: string
  isAfterWide: boolean
  /** How many ASCII letters stand beside it. */
  asciiBeside: number
  isUpper: boolean
  isAfterUpper: boolean
  isAfterLower: boolean
}

/** What a text contains beyond ASCII, whatever its language. */
interface Analysis {
  letters: FoundLetter[]
  asciiLetters: number
  /** The score of everything else. */
  others: number
}

function analyse(text: string): Analysis {
  const letters: FoundLetter[] = []
  let asciiLetters = 0
  let others = 0
  let before = nothing
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const own = known(character)
    if (own.sort === 'ascii') {
      if (own.isLetter) asciiLetters += 1
    } else {
      const behind = at + 1 < text.length ? known(text.charAt(at + 1)) : nothing
      if (own.sort === 'letter') {
        const [first, last] = [before, behind].map(({ isLetter, lower }) =>
          isLetter ? lower : ' ',
        )
        letters.push({
          lower: own.lower,
          context: `${first}${own.lower}${last}`,
          isAfterWide: before.sort === 'letter',
          asciiBeside: [before, behind].filter(({ sort, isLetter }) => sort === 'ascii' && isLetter)
            .length,
          isUpper: own.isUpper,
          isAfterUpper: before.isLetter && before.isUpper,
          isAfterLower: before.isLetter && !before.isUpper,
        })
      } else others += scoreOfOther(character, own, before, behind)
    }
    before = own
  }
  return { letters, asciiLetters, others }
}

function scoreOfOther(character: string, { sort }: Fact, before: Fact, behind: Fact): number {
  if (sort === 'control') return IMPOSSIBLE
  const isBesideLetter = before.isLetter || behind.isLetter
  if (sort === 'frame') {
    if (isBesideLetter) return ODD_SYMBOL + MIXED
    return before.lower === character || behind.lower === character ? FRAME_RUN : FRAME_PART
  }
  const isInside = before.isLetter && behind.isLetter && !withinWords.has(character)
  return (sort === 'symbol' ? SYMBOL : ODD_SYMBOL) + (isInside ? MIXED : 0)
}

interface Ranks {
  frequency: Map<string, number>
  contexts: Set<string>
}
const ranksOf = new Map<Writing, Ranks>()

/** The logarithms of the frequencies of letters, by Zipf's law, and their usual neighbours. */
function ranks(writing: Writing): Ranks {
  let made = ranksOf.get(writing)
  if (!made) {
    const letters = [...writing.letters]
    const sum = letters.reduce((total, _, rank) => total + 1 / (rank + 3), 0)
    made = {
      frequency: new Map(letters.map((letter, rank) => [letter, Math.log(1 / (rank + 3) / sum)])),
      contexts: new Set(writing.context.match(/.{3}/gu)),
    }
    ranksOf.set(writing, made)
  }
  return made
}

/** The logarithm of the probability of a text in a language. */
function scoreOf({ letters, asciiLetters, others }: Analysis, writing: Writing): number {
  const { frequency, contexts } = ranks(writing)
  const isLatin = writing.script === 'latin'
  let score = others + writing.prior
  if (!isLatin) score += Math.max(ASCII_LETTERS, asciiLetters * ASCII_LETTER)
  for (const letter of letters) {
    const rank = frequency.get(letter.lower)
    if (letter.isUpper && letter.isAfterLower) score += CASE
    if (rank === undefined) score += FOREIGN
    else if (isLatin) {
      score += rank + SPARSE + (letter.isAfterWide ? DENSE : 0)
      score += contexts.has(letter.context) ? USUAL : UNUSUAL
    } else {
      score += rank + letter.asciiBeside * MIXED
      if (letter.isUpper && letter.isAfterUpper) score += CAPITAL
    }
  }
  return score
}

const setsByCharset = new Map<string, { usual: Set<string>; common: Set<string> }>()
/** The frequent characters of a character set, decoded from its rows. */
function setsOf({ charset, leads, trails, common }: WideWriting) {
  let sets = setsByCharset.get(charset)
  if (!sets) {
    const codes: number[] = []
    for (let lead = leads[0]; lead <= leads[1]; lead++)
      for (const [first, last] of trails)
        for (let trail = first; trail <= last; trail++) codes.push(lead, trail)
    const usual = decodeAs(Uint8Array.from(codes), charset)
    sets = { usual: new Set(usual), common: new Set(common) }
    setsByCharset.set(charset, sets)
  }
  return sets
}

/** The logarithm of the probability of a text of two-byte characters. */
function wideScoreOf(text: string, writing: WideWriting): number {
  const { usual, common } = setsOf(writing)
  const isJapanese = writing.charset === 'shift_jis' || writing.charset === 'euc-jp'
  let score = writing.prior
  const perUsual = writing.charset === 'euc-kr' ? -7.7 : -8.3
  let before = ' '
  for (const character of text) {
    const isAscii = character <= '\u007f'
    if (isAscii !== before <= '\u007f' && /[A-Za-z]/.test(before + character)) score += MIXED / 2
    if (!isAscii) {
      const isAfterHalf = before >= '\uff61' && before <= '\uff9f'
      if (common.has(character)) score += -5.5
      else if (usual.has(character)) score += perUsual
      else if (character >= '\u3000' && character <= '\u303f') score += -4.5
      else if (character >= '\u3040' && character <= '\u309f') score += isJapanese ? -4.8 : -12
      else if (character >= '\u30a0' && character <= '\u30ff') score += isJapanese ? -6 : -13
      // Katakana of half width, of one byte each.
      else if (character >= '\uff61' && character <= '\uff9f')
        score += isJapanese ? (isAfterHalf ? -4.5 : -7) : IMPOSSIBLE
      else if (character >= '\uff01' && character <= '\uff5e') score += -6
      else if (character <= '\u009f' || (character >= '\ue000' && character <= '\uf8ff'))
        score += 2 * IMPOSSIBLE
      else if (character >= '\u2010' && character <= '\u26ff') score += -9
      else score += -15
    }
    before = character
  }
  return score
}

/**
 * The character set in which a text makes the most sense, by letters, case, neighbours and the
 * frequency of characters in the languages that use each character set.
 * @param bytes a text that is not UTF-8
 * @returns its name, and the logarithm of its probability per byte beyond ASCII
 */
export function detectCharset(bytes: Uint8Array): { charset: string; likelihood: number } {
  const { sample, isCut } = sampleOf(bytes)
  let charset = 'windows-1252'
  let best = Number.NEGATIVE_INFINITY
  const offer = (name: string, score: number) => {
    if (score <= best) return
    best = score
    charset = name
  }
  const analyses = new Map<string, Analysis | undefined>()
  for (const writing of writings)
    for (const [rank, name] of writing.charsets.entries()) {
      if (!analyses.has(name)) {
        const text = decodeAs(sample, name, { isFatal: true })
        analyses.set(name, text === undefined ? undefined : analyse(text))
      }
      const analysis = analyses.get(name)
      // The first character set of a language is the most frequent.
      if (analysis) offer(name, scoreOf(analysis, writing) - (rank > 0 ? 1 + rank / 2 : 0))
    }
  for (const writing of wideWritings) {
    const text = decodeAs(sample, writing.charset, { isFatal: true, isCut })
    if (text !== undefined) offer(writing.charset, wideScoreOf(text, writing))
  }
  const high = sample.reduce((count, byte) => count + (byte > 127 ? 1 : 0), 0)
  return { charset, likelihood: best / Math.max(1, high) }
}
