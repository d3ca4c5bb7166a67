import { type UnzipFileInfo, unzipSync } from 'fflate'
import { Refusal } from '../outcome.ts'
import { BoundedText } from './bounded-text.ts'
import { readXml } from './markup.ts'

/** The maximum unpacked size of one part of a document, and of all its parts. */
const PART = 32 * 1024 * 1024
const ALL = 64 * 1024 * 1024
const MOST_PARTS = 2000

/** The parts of Office Open XML and OpenDocument files that contain text. */
const PARTS = [
  /^word\/(document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml$/,
  /^ppt\/(slides\/slide|notesSlides\/notesSlide)\d+\.xml$/,
  /^xl\/(sharedStrings|worksheets\/sheet\d+)\.xml$/,
  /^content\.xml$/,
]

/** Sorts the parts: the main content first, then notes, headers and footers. */
function byPlace(a: string, b: string): number {
  const weight = (name: string) =>
    /notes|comments|header|footer/.test(name) ? 1 : /worksheets/.test(name) ? 2 : 0
  return weight(a) - weight(b) || a.localeCompare(b, 'en', { numeric: true })
}

/**
 * Extracts the text of a zipped document. Unpacks only the parts with text, each up to its declared
 * size and a limit. Truncates what unpacks to more.
 * @throws Refusal
 */
export function textOfOffice(bytes: Uint8Array): string {
  let left = ALL
  let parts = 0
  const isWanted = ({ name, originalSize }: UnzipFileInfo): boolean => {
    if (!PARTS.some(part => part.test(name))) return false
    parts += 1
    if (originalSize > PART || originalSize > left || parts > MOST_PARTS)
      throw new Refusal('too-large')
    left -= originalSize
    return true
  }
  const found = unzipSync(bytes, { filter: isWanted })
  const names = Object.keys(found).sort(byPlace)
  if (names.length === 0) throw new Refusal('unsupported')
  const text = new BoundedText()
  for (const name of names) {
    const part = found[name]
    if (part && !text.isFull) addPart(text, new TextDecoder().decode(part), name === 'content.xml')
  }
  return text.toString()
}

/**
 * Text is in elements `t`, and spreadsheet numbers are in `v`. In OpenDocument, text is anywhere in
 * the body.
 */
function addPart(text: BoundedText, xml: string, isOpenDocument: boolean): void {
  let inText = 0
  let inBody = false
  let isShared = false
  readXml(xml, {
    open(name, attributes) {
      const local = localOf(name)
      if (local === 'body') inBody = true
      // The value of such a cell is an index into the shared strings.
      if (local === 'c') isShared = attributes.t === 's'
      if (local === 't' || (local === 'v' && !isShared)) inText += 1
      if (/^(tab|br|line-break|s)$/.test(local)) text.add(' ')
    },
    close(name) {
      const local = localOf(name)
      if (local === 't' || (local === 'v' && !isShared)) inText -= 1
      if (/^(p|h|si|row|table-row)$/.test(local)) text.add('\n')
      else if (/^(c|tc|table-cell)$/.test(local)) text.add(' ')
    },
    text(said) {
      if (isOpenDocument ? inBody : inText > 0) text.add(said)
    },
    isDone: () => text.isFull,
  })
}

const localOf = (name: string): string => name.slice(name.indexOf(':') + 1)
