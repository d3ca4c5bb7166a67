/** A byte order mark, white space, a comment, an instruction, or a document type declaration. */
const before =
  /^(?:\uFEFF|\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE(?:[^[>"']|"[^"]*"|'[^']*')*(?:\[.*?\]\s*)?>)/s
const root = /^<(?:[\w.-]+:)?svg[\s/>]/

/** The encodings of an XML document by its first bytes: a byte order mark, or a `<`. */
const encodings: [mark: number[], encoding: string][] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x3c, 0x00], 'utf-16le'],
  [[0x00, 0x3c], 'utf-16be'],
]

/** Decodes an XML document by its byte order mark or its declaration; otherwise as UTF-8. */
function decoded(bytes: Buffer): string {
  const marked = encodings.find(([mark]) => mark.every((byte, at) => bytes[at] === byte))?.[1]
  const [, declared] =
    /^<\?xml[^>]{0,100}?\sencoding=["']([\w.:-]{1,40})["']/.exec(
      bytes.toString('latin1', 0, 200),
    ) ?? []
  try {
    return new TextDecoder(marked ?? declared ?? 'utf-8').decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

/** The text from the first element on. */
function fromRoot(text: string): string {
  let rest = text
  for (let found = before.exec(rest); found; found = before.exec(rest))
    rest = rest.slice(found[0].length)
  return rest
}

/** Whether the root of an XML document is an SVG, whatever precedes it and whatever its prefix. */
export const isVector = (bytes: Buffer): boolean => root.test(fromRoot(decoded(bytes)))

/**
 * Converts an SVG so that the library recognizes it: to UTF-8, without an XML declaration. The
 * library looks for the root only in the first bytes, so a comment there names it.
 */
export function recognizable(bytes: Buffer): Buffer {
  const text = decoded(bytes).replace(/^\uFEFF?\s*(?:<\?xml.*?\?>)?/s, '')
  return Buffer.from(`<!-- <svg -->${text}`)
}
