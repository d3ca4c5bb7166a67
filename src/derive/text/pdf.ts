import { BoundedText } from '../../documents/bounded-text.ts'
import { loadDocument, openForm, type Pdfium, startPdfium } from '../kinds/pdf.ts'
import { Refusal } from '../outcome.ts'

const MOST_PAGES = 5000
/** Characters per read, of two bytes each. */
const STEP = 16_384
/** The most annotations of a page that are read. */
const MOST_ANNOTATIONS = 5000
/**
 * FPDF_ANNOT_POPUP repeats its parent, FPDF_ANNOT_LINK has no text, FPDF_ANNOT_WIDGET is a field.
 */
const LINK = 2
const POPUP = 16
const WIDGET = 20
/** FPDF_ANNOT_FLAG_HIDDEN and FPDF_ANNOT_FLAG_NOVIEW. */
const UNSEEN = 0x02 | 0x20
/** The bits of a field of a form: a password, and a button that is pushed. */
const PASSWORD = 1 << 13
const TEXT_FIELDS = [4, 5, 6]

/**
 * Extracts the text of a PDF document, page by page, with the values of form fields and the
 * contents of annotations. Nothing is rendered, and no script runs.
 * @throws Refusal
 */
export async function textOfPdf(path: string): Promise<string> {
  const pdfium = await startPdfium()
  const document = loadDocument(pdfium, path)
  const form = openForm(pdfium, document)
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
        // PDFium replaces a hyphen that breaks a word at the end of a line by U+FFFE.
        text.add(bytes.toString('utf16le').replaceAll('\r\n', '\n').replaceAll('\ufffe', ''))
      }
      pdfium._FPDFText_ClosePage(texts)
      text.add('\n')
    }
    if (page) {
      addAnnotations(pdfium, { page, form, buffer: at }, text)
      pdfium._FPDF_ClosePage(page)
    }
  }
  return text.toString()
}

/** Adds the values of the fields and the contents of the notes of a page. */
function addAnnotations(
  pdfium: Pdfium,
  { page, form, buffer }: { page: number; form: number; buffer: number },
  text: BoundedText,
): void {
  const exports = pdfium.wasmExports
  const key = exports.malloc(16)
  pdfium.HEAPU8.set(Buffer.from('Contents\0'), key)
  /** Reads a text of UTF-16, whose length in bytes the function returns. */
  const read = (into: (buffer: number, size: number) => number): string => {
    const length = into(buffer, STEP * 2)
    if (length <= 2 || length > STEP * 2) return ''
    return Buffer.from(pdfium.HEAPU8.buffer, buffer, length - 2).toString('utf16le')
  }
  const count = Math.min(exports.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)
  for (let number = 0; number < count && !text.isFull; number++) {
    const annotation = exports.FPDFPage_GetAnnot(page, number)
    if (!annotation) continue
    const subtype = exports.FPDFAnnot_GetSubtype(annotation)
    const isSeen = (exports.FPDFAnnot_GetFlags(annotation) & UNSEEN) === 0
    if (isSeen && subtype === WIDGET && form) {
      const isText = TEXT_FIELDS.includes(exports.FPDFAnnot_GetFormFieldType(form, annotation))
      const flags = exports.FPDFAnnot_GetFormFieldFlags(form, annotation)
      if (isText && (flags & PASSWORD) === 0)
        text.add(
          `${read((to, size) => exports.FPDFAnnot_GetFormFieldValue(form, annotation, to, size))}\n`,
        )
    } else if (isSeen && subtype !== POPUP && subtype !== LINK && subtype !== WIDGET)
      text.add(
        `${read((to, size) => exports.FPDFAnnot_GetStringValue(annotation, key, to, size))}\n`,
      )
    exports.FPDFPage_CloseAnnot(annotation)
  }
}
