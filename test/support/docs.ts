import { readFileSync } from 'node:fs'

export type Page = 'README.md' | `docs/${string}.md`

export const pageFile = (page: Page): URL => new URL(`../../${page}`, import.meta.url)

/** A fenced block: its language and its contents. */
export interface Block {
  language: string
  text: string
}

/**
 * The fenced blocks of a section, in order.
 * @param heading with its hashes, such as `## Five minutes`
 */
export function blocksOf(page: Page, heading: string): Block[] {
  const text = `\n${readFileSync(pageFile(page), 'utf8')}`
  const start = text.indexOf(`\n${heading}\n`)
  if (start < 0) throw new Error(`${page} has no section "${heading}".`)
  const level = heading.indexOf(' ')
  const rest = text.slice(start + heading.length + 2)
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'))
  const section = end < 0 ? rest : rest.slice(0, end)
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }))
}
