/*
 * Parses the XML responses of an S3 store. Their attributes do not matter, and no element contains
 * another one of the same name. Not a general XML parser: it does not support document types and
 * their entities.
 */

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const decode = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name) return entities[name] ?? whole
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal))
  })

export const encodeXml = (text: string): string =>
  text.replace(/[<>&"']/g, char => `&#${char.codePointAt(0)};`)

/** The contents of all elements with this name, undecoded. */
export function elementsOf(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}>`, 'g'))
  return Array.from(found, ([, content = '']) => content)
}

/** The text of the first element with this name, or an empty text. */
export const textOf = (xml: string, name: string): string => decode(elementsOf(xml, name)[0] ?? '')
