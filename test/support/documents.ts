/** A PDF document of these objects, numbered from 1. The first is its catalogue. */
export function pdfOf(objects: (string | Uint8Array)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let size = parts[0]?.length ?? 0
  const add = (bytes: Uint8Array | string) => {
    const part = Buffer.from(bytes as string)
    parts.push(part)
    size += part.length
  }
  for (const [i, object] of objects.entries()) {
    offsets.push(size)
    add(`${i + 1} 0 obj\n`)
    add(object)
    add('\nendobj\n')
  }
  const begin = size
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`)
  add(`trailer\n<</Size ${objects.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${begin}\n%%EOF\n`)
  return Buffer.concat(parts)
}

/** A stream of a PDF document. */
export const stream = (bytes: string | Uint8Array, dictionary = ''): Buffer => {
  const content = Buffer.from(bytes as string)
  return Buffer.concat([
    Buffer.from(`<</Length ${content.length}${dictionary}>>\nstream\n`),
    content,
    Buffer.from('\nendstream'),
  ])
}

/** A PDF document with one page of letter size for each of these contents. */
export function pdf(pages: string[]): Buffer {
  const kids = pages.map((_, i) => `${3 + 2 * i} 0 R`)
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages.length}/Kids[${kids.join(' ')}]/MediaBox[0 0 612 792]>>`,
    ...pages.flatMap((content, i) => [
      `<</Type/Page/Parent 2 0 R/Contents ${4 + 2 * i} 0 R>>`,
      stream(content),
    ]),
  ])
}
