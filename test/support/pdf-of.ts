/** A PDF with lines of text on each page, and with a script that runs when the file is opened. */
export function pdfOf(...given: (string[] | string | { script: string })[]): Buffer {
  const pages = given.flatMap(page =>
    typeof page === 'string' ? [[page]] : Array.isArray(page) ? [page] : [],
  )
  const script = given.flatMap(one =>
    typeof one === 'object' && 'script' in one ? [one.script] : [],
  )[0]
  const escaped = (text: string) => text.replace(/[()\\]/g, '\\$&')
  const objects: string[] = []
  const add = (body: string) => objects.push(body)
  const opens = script ? ` /OpenAction << /S /JavaScript /JS (${escaped(script)}) >>` : ''
  add(`<< /Type /Catalog /Pages 2 0 R${opens} >>`)
  add(
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${4 + i * 2} 0 R`).join(' ')}] >>`,
  )
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  for (const [i, lines] of pages.entries()) {
    const content = lines
      .map((line, n) => `BT /F1 12 Tf 72 ${700 - n * 20} Td (${escaped(line)}) Tj ET`)
      .join('\n')
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + i * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    )
    add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`)
  }
  let file = '%PDF-1.7\n'
  const places: number[] = []
  for (const [i, body] of objects.entries()) {
    places.push(file.length)
    file += `${i + 1} 0 obj\n${body}\nendobj\n`
  }
  const table = places.map(at => `${`${at}`.padStart(10, '0')} 00000 n \n`).join('')
  file += `xref\n0 ${places.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${places.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}
