import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/** The greatest width of a line of prose, in columns. */
export const COLUMNS = 100

const LIST = /^(\s*)((?:[-*+]|\d+[.)])\s+)(.*)$/
const UNWRAPPABLE = /^\s*(#|\||<|>|!\[|\[[^\]]+\]:|---|===|```|~~~)/
/** A line that starts with one of these would turn into a list, heading, quotation or table. */
const BLOCK_START = /^([-+*#>|=]|\d+[.)]$)/

/** The words of a text. Code spans and links stay whole. */
const wordsOf = (text: string) =>
  text.match(/(?:`+[^`]*`+|!?\[[^\]]*\](?:\([^)]*\))?|[^\s`![]|[`![])+/g) ?? []

/**
 * Wraps a text.
 * @param first The prefix of the first line
 * @param rest The prefix of the other lines
 */
function fill(text: string, first: string, rest = first): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of wordsOf(text)) {
    const prefix = lines.length > 0 ? rest : first
    const fits = prefix.length + line.length + 1 + word.length <= COLUMNS
    if (line === '') line = word
    else if (fits || BLOCK_START.test(word)) line += ` ${word}`
    else {
      lines.push(prefix + line)
      line = word
    }
  }
  if (line) lines.push((lines.length > 0 ? rest : first) + line)
  return lines
}

/** Wraps the paragraphs and list items of a Markdown text, and leaves all other blocks alone. */
export function wrapMarkdown(text: string): string {
  const out: string[] = []
  let block: { first: string; rest: string; text: string } | undefined
  let verbatim: string | undefined
  const flush = () => {
    if (block) out.push(...fill(block.text, block.first, block.rest))
    block = undefined
  }
  for (const line of text.split('\n')) {
    const fence = /^\s*(```+|~~~+)/.exec(line)?.[1]
    const begin = /^<!-- (.*):begin -->/.exec(line)?.[1]
    if (verbatim !== undefined) {
      out.push(line)
      if (fence === verbatim || line === `<!-- ${verbatim}:end -->`) verbatim = undefined
    } else if (fence || begin) {
      flush()
      verbatim = fence ?? begin
      out.push(line)
    } else if (line.trim() === '' || UNWRAPPABLE.test(line)) {
      flush()
      out.push(line)
    } else {
      const item = LIST.exec(line)
      if (item) {
        flush()
        const [, indent = '', mark = '', rest = ''] = item
        block = { first: indent + mark, rest: indent + ' '.repeat(mark.length), text: rest }
      } else if (block) {
        block.text += ` ${line.trim()}`
      } else {
        const indent = /^\s*/.exec(line)?.[0] ?? ''
        block = { first: indent, rest: indent, text: line.trim() }
      }
      // Two spaces at the end of a line are a line break.
      if (/( {2}|\\)$/.test(line)) {
        const { length } = out
        flush()
        if (out.length > length) out[out.length - 1] += /\\$/.test(line) ? '' : '  '
      }
    }
  }
  flush()
  return out.join('\n')
}

const isDirective = (line: string) => /^\s*(\/\/|#)\s*(biome-|@ts-|!|shellcheck)/.test(line)
const isWide = (line: string) => line.length > COLUMNS

/** Wraps the comments of a source file that contain a line that is too wide. */
export function wrapComments(text: string, mark: '//' | '#'): string {
  const lines = text.split('\n')
  const out: string[] = []
  const single = new RegExp(`^(\\s*)${mark} (.*)$`)
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const open = /^(\s*)\/\*\*( .*)?$/.exec(line)
    if (mark === '//' && open) {
      let end = at
      while (end < lines.length - 1 && !lines[end]?.includes('*/')) end++
      out.push(...wrapDoc(lines.slice(at, end + 1), open[1] ?? ''))
      at = end + 1
    } else if (single.test(line) && !isDirective(line)) {
      const indent = single.exec(line)?.[1] ?? ''
      let end = at
      const isNext = (next = '') =>
        single.exec(next)?.[1] === indent && single.test(next) && !isDirective(next)
      while (isNext(lines[end + 1])) end++
      const block = lines.slice(at, end + 1)
      out.push(...(block.some(isWide) ? wrapParagraphs(block, `${indent}${mark} `) : block))
      at = end + 1
    } else {
      out.push(line)
      at++
    }
  }
  return out.join('\n')
}

/** Wraps `/** ... *\/`. */
function wrapDoc(lines: string[], indent: string): string[] {
  if (!lines.some(isWide) || !/\*\/\s*$/.test(lines.at(-1) ?? '')) return lines
  const bodies = lines
    .map(line => line.replace(/^\s*(\/\*\*|\*(?!\/))? ?/, '').replace(/\s*\*\/\s*$/, ''))
    .map(line => `${indent} * ${line}`)
  if (bodies[0]?.trim() === '*') bodies.shift()
  if (bodies.length > 1 && bodies.at(-1)?.trim() === '*') bodies.pop()
  return [`${indent}/**`, ...wrapParagraphs(bodies, `${indent} * `), `${indent} */`]
}

/** Wraps lines that share a prefix. A blank line, a list item and a tag begin a paragraph. */
function wrapParagraphs(lines: string[], prefix: string): string[] {
  const out: string[] = []
  let block: { rest: string; text: string } | undefined
  const flush = () => {
    if (block) out.push(...fill(block.text, prefix, prefix + block.rest))
    block = undefined
  }
  for (const line of lines) {
    const body = line.slice(prefix.length)
    if (body.trim() === '' || /^( {2,}|```|\|)/.test(body)) {
      flush()
      out.push((prefix + body).trimEnd())
      continue
    }
    const item = LIST.exec(body)
    if (item || body.startsWith('@') || !block) {
      flush()
      block = { rest: item ? ' '.repeat(item[2]?.length ?? 0) : '', text: body }
    } else block.text += ` ${body}`
  }
  flush()
  return out
}

/** Wraps the prose of a file, by its name. */
export function wrap(name: string, text: string): string {
  if (name.endsWith('.md')) return wrapMarkdown(text)
  return wrapComments(text, /\.(ts|tsx|mjs|cjs)$/.test(name) ? '//' : '#')
}

const GENERATED = /generated\.ts$|graph-types\.d\.ts$|^test\/mariadb\/authorization\.md$/

/** The files of this repository whose prose is wrapped. */
export const proseFiles = () =>
  execFileSync('git', ['ls-files'], { encoding: 'utf8' })
    .split('\n')
    .filter(name => /\.(md|ts|tsx|mjs|cjs|ya?ml)$|^\.ci\/[^.]+$/.test(name))
    .filter(name => !GENERATED.test(name) && !name.startsWith('docker/helm/templates/'))

// `--write` wraps files. Without it, lists the files that need wrapping, and fails if there are
// any.
if (import.meta.main) {
  const write = process.argv.includes('--write')
  const unwrapped = proseFiles().filter(name => {
    const text = readFileSync(name, 'utf8')
    const wrapped = wrap(name, text)
    if (write && wrapped !== text) writeFileSync(name, wrapped)
    return wrapped !== text
  })
  for (const name of unwrapped) console.log(write ? `wrapped ${name}` : `not wrapped: ${name}`)
  process.exitCode = !write && unwrapped.length > 0 ? 1 : 0
}
