import type { Block } from './block.ts'
import { textOfEpub } from './epub.ts'
import { readOffice } from './office.ts'
import { readOpenDocument } from './open-document.ts'
import { openPackage } from './package.ts'

/**
 * The text of a zipped document: Office Open XML, OpenDocument or EPUB.
 * @throws BadDocument
 */
export function textOfZipped(bytes: Uint8Array): string {
  const source = openPackage(bytes)
  if (source.names.has('content.xml')) return readOpenDocument(source).toString()
  const isBook = source.names.has('meta-inf/container.xml') || [...source.names].some(isBookPart)
  if (isBook && !source.names.has('[content_types].xml')) return textOfEpub(source)
  return readOffice(source).toString()
}

const isBookPart = (name: string): boolean => name.endsWith('.opf') || /\.xhtml$/.test(name)

/**
 * The paragraphs and tables of an Office Open XML or OpenDocument file.
 * @throws BadDocument
 */
export function blocksOfZipped(bytes: Uint8Array): Block[] {
  const source = openPackage(bytes)
  if (source.names.has('content.xml')) return readOpenDocument(source).all
  return readOffice(source).all
}
