import { languageOf, type TextKind } from '../../formats/viewer.ts'

/**
 * Renders a text. Grammars and parsers load on demand.
 *
 * @param text the beginning of the file
 */
export async function layOut(kind: TextKind, name: string, text: string): Promise<Node> {
  if (kind === 'markdown') return (await import('./markdown.ts')).markdown(text)
  if (kind === 'table') return (await import('./table.ts')).table(text)
  const language = kind === 'source' ? languageOf(name) : undefined
  return language
    ? (await import('./source.ts')).source(text, language)
    : document.createTextNode(text)
}
