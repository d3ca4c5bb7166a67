import { loadDocument, startPdfium } from '../kinds/pdf.ts'
import { Refusal } from '../outcome.ts'
import { BoundedText } from './bounded-text.ts'

const MOST_PAGES = 5000
/** Characters per read, of two bytes each. */
const STEP = 16_384

/**
 * Extracts the text of a PDF document, page by page, without rendering or scripts.
 * @throws Refusal
 */
export async function textOfPdf(path: string): Promise<string> {
  const pdfium = await startPdfium()
  const document = loadDocument(pdfium, path)
  const text = new BoundedText()
  // GetText writes a terminating zero.
  const at = pdfium.wasmExports.malloc((STEP + 1) * 2)
  if (!at) throw new Refusal('memory')
  const pages = Math.min(pdfium._FPDF_GetPageCount(document), MOST_PAGES)
  for (let number = 0; number < pages && !text.isFull; number++) {
    const page = pdfium._FPDF_LoadPage(document, number)
    const texts = page ? pdfium._FPDFText_LoadPage(page) : 0
    if (texts) {
      const count = pdfium._FPDFText_CountChars(texts)
      for (let from = 0; from < count && !text.isFull; from += STEP) {
        const written = pdfium._FPDFText_GetText(texts, from, Math.min(STEP, count - from), at)
        // The memory may have grown, and moved, since the last read.
        const bytes = Buffer.from(pdfium.HEAPU8.buffer, at, Math.max(0, written - 1) * 2)
        text.add(bytes.toString('utf16le').replaceAll('\r\n', '\n'))
      }
      pdfium._FPDFText_ClosePage(texts)
      text.add('\n')
    }
    if (page) pdfium._FPDF_ClosePage(page)
  }
  return text.toString()
}
