import { readFileSync } from 'node:fs'

export const readmeFile = new URL('../README.md', import.meta.url)

/** A fenced block: its language, and what stands in it. */
export interface Block {
  language: string
  text: string
}

/** The fenced blocks of a section, in their order. @param heading with its hashes, such as `## Five minutes` */
export function blocksOf(heading: string): Block[] {
  const text = readFileSync(readmeFile, 'utf8')
  const start = text.indexOf(`\n${heading}\n`)
  if (start < 0) throw new Error(`README.md has no section "${heading}".`)
  const level = heading.indexOf(' ')
  const rest = text.slice(start + heading.length + 2)
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'))
  const section = end < 0 ? rest : rest.slice(0, end)
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }))
}
