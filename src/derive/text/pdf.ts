import { getDocumentProxy } from 'unpdf'
import { BoundedText } from './bounded-text.ts'

const MOST_PAGES = 5000

/** The text of a PDF, page by page. Its scripts are not run, and its fonts and pictures are not drawn. */
export async function textOfPdf(bytes: Uint8Array): Promise<string> {
  const text = new BoundedText()
  const pdf = await getDocumentProxy(bytes, {
    ...{ isEvalSupported: false, useSystemFonts: false, disableFontFace: true, stopAtErrors: false },
    ...{ enableXfa: false, useWasm: false, verbosity: 0 },
  })
  try {
    for (let page = 1; page <= Math.min(pdf.numPages, MOST_PAGES) && !text.isFull; page++) {
      const shown = await pdf.getPage(page)
      for (const item of (await shown.getTextContent()).items)
        if ('str' in item) text.add(item.hasEOL ? `${item.str}\n` : item.str)
      text.add('\n')
      shown.cleanup()
    }
  } finally {
    await pdf.loadingTask.destroy()
  }
  return text.toString()
}
