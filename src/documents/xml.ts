import { SaxesParser } from 'saxes'

/** XML characters per parser step. */
const STEP = 64 * 1024

export interface XmlHandler {
  /** @param name without its prefix */
  open?(name: string, attributes: Record<string, string>): void
  close?(name: string): void
  text?(text: string): void
  /** Whether the rest can be skipped. */
  isDone?(): boolean
}

/** The name of an element or attribute without its prefix. */
export const localOf = (name: string): string => name.slice(name.indexOf(':') + 1)

/**
 * Parses XML. Knows only the five predefined entities: never expands a document's own entities, and
 * fetches nothing. Reads broken XML as far as possible.
 */
export function readXml(xml: string, { open, close, text, isDone }: XmlHandler): void {
  const parser = new SaxesParser()
  parser.on('error', () => {})
  if (open) parser.on('opentag', ({ name, attributes }) => open(localOf(name), attributes))
  if (close) parser.on('closetag', ({ name }) => close(localOf(name)))
  if (text) {
    parser.on('text', text)
    parser.on('cdata', text)
  }
  for (let at = 0; at < xml.length && !isDone?.(); at += STEP)
    parser.write(xml.slice(at, at + STEP))
}
