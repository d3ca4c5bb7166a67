import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PDFiumModule } from '@hyzyla/pdfium'
import { Refusal } from '../outcome.ts'

type Module = Awaited<ReturnType<typeof PDFiumModule>>

/** Functions for annotations and forms that the types of the library leave out. */
interface Annotations {
  FPDFPage_GetAnnotCount(page: number): number
  FPDFPage_GetAnnot(page: number, index: number): number
  FPDFPage_CloseAnnot(annotation: number): void
  FPDFAnnot_GetSubtype(annotation: number): number
  FPDFAnnot_GetFlags(annotation: number): number
  /** Writes a text of UTF-16, and returns its length in bytes. */
  FPDFAnnot_GetStringValue(annotation: number, key: number, to: number, size: number): number
  FPDFAnnot_GetFormFieldType(form: number, annotation: number): number
  FPDFAnnot_GetFormFieldFlags(form: number, annotation: number): number
  FPDFAnnot_GetFormFieldValue(form: number, annotation: number, to: number, size: number): number
}

export type Pdfium = Omit<Module, 'wasmExports'> & {
  wasmExports: Module['wasmExports'] & Annotations
}

/** The maximum size of a document, which is held in memory. */
const DOCUMENT_BYTES = 128 * 1024 * 1024
/** The PDFium bitmap format with four channels. */
const BGRA = 4
/** FPDF_ANNOT, FPDF_REVERSE_BYTE_ORDER (red first), FPDF_RENDER_LIMITEDIMAGECACHE. */
const FLAGS = 0x01 | 0x10 | 0x200
const WHITE = 0xffffffff

/** The first page of a document, rendered on white. */
export interface FirstPage {
  /** The size in points (1/72 inch). */
  width: number
  height: number
  data: Buffer
  raw: { width: number; height: number; channels: 4 }
}

let compiled: WebAssembly.Module | undefined

/**
 * Starts PDFium with its own memory, so that nothing remains for the next document. It has no
 * scripts and no network.
 */
export async function startPdfium(): Promise<Pdfium> {
  compiled ??= new WebAssembly.Module(
    readFileSync(fileURLToPath(import.meta.resolve('@hyzyla/pdfium/pdfium.wasm'))),
  )
  const program = compiled
  const pdfium = await PDFiumModule({
    instantiateWasm(imports, done) {
      const instance = new WebAssembly.Instance(program, imports)
      // The library declares a module here, and reads an instance.
      done(instance as WebAssembly.Module)
      return instance.exports
    },
  })
  pdfium._FPDF_InitLibraryWithConfig({ version: 2 })
  return pdfium as Pdfium
}

/** The size of FPDF_FORMFILLINFO. */
const FORM_INFO = 256

/**
 * Opens the form of a document, whose fields are drawn and read only with it. Without callbacks, it
 * can open nothing and send nothing.
 * @returns its handle, or 0 if the document cannot have one
 */
export function openForm(pdfium: Pdfium, document: number): number {
  const info = pdfium.wasmExports.malloc(FORM_INFO)
  if (!info) throw new Refusal('memory')
  pdfium.HEAPU8.fill(0, info, info + FORM_INFO)
  pdfium.HEAP32[info >> 2] = 1
  return pdfium._FPDFDOC_InitFormFillEnvironment(document, info)
}

/** Opens a document. @returns its handle @throws Refusal */
export function loadDocument(pdfium: Pdfium, path: string): number {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > DOCUMENT_BYTES) throw new Refusal('too-large')
    const at = pdfium.wasmExports.malloc(size)
    if (!at) throw new Refusal('memory')
    for (let read = 0; read < size; ) {
      const count = readSync(file, pdfium.HEAPU8, at + read, size - read, read)
      if (count === 0) throw new Refusal('unreadable')
      read += count
    }
    const document = pdfium._FPDF_LoadMemDocument(at, size, 0)
    if (!document) throw new Refusal('unreadable')
    return document
  } finally {
    closeSync(file)
  }
}

/**
 * Renders the first page of a document, with this many pixels on its longest side.
 * @throws Refusal
 */
export async function firstPage(path: string, side: number): Promise<FirstPage> {
  const pdfium = await startPdfium()
  const document = loadDocument(pdfium, path)
  const form = openForm(pdfium, document)
  const page = pdfium._FPDF_LoadPage(document, 0)
  if (!page) throw new Refusal('unreadable')
  const [width, height] = [pdfium._FPDF_GetPageWidth(page), pdfium._FPDF_GetPageHeight(page)]
  if (!(width > 0 && height > 0 && width < 1e6 && height < 1e6)) throw new Refusal('unreadable')
  const scale = side / Math.max(width, height)
  const pixels = (points: number) => Math.max(1, Math.round(points * scale))
  const raw = { width: pixels(width), height: pixels(height), channels: 4 } as const

  const bitmap = pdfium._FPDFBitmap_CreateEx(raw.width, raw.height, BGRA, 0, 0)
  if (!bitmap) throw new Refusal('memory')
  pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, raw.width, raw.height, WHITE)
  pdfium._FPDF_RenderPageBitmap(bitmap, page, 0, 0, raw.width, raw.height, 0, FLAGS)
  if (form) pdfium._FPDF_FFLDraw(form, bitmap, page, 0, 0, raw.width, raw.height, 0, FLAGS)
  const at = pdfium._FPDFBitmap_GetBuffer(bitmap)
  const data = Buffer.from(pdfium.HEAPU8.subarray(at, at + raw.width * raw.height * raw.channels))
  return {
    width: Math.max(1, Math.round(width)),
    height: Math.max(1, Math.round(height)),
    data,
    raw,
  }
}
