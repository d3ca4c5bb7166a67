import { BoundedText } from './bounded-text.ts'

/** A part of a document, as a viewer shows it and a search reads it. */
export type Block =
  | { kind: 'paragraph'; text: string }
  /** @property level 1 to 6 */
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'table'; rows: string[][] }
  /** The beginning of a slide. */
  | { kind: 'page'; number: number }

/** The most cells of a row. */
const COLUMNS = 256

/** Collects the blocks of a document, up to a limit of characters. */
export class Blocks {
  readonly all: Block[] = []
  readonly #text = new BoundedText()

  /** Whether the limit is reached. */
  get isFull(): boolean {
    return this.#text.isFull
  }

  paragraph(text: string): void {
    this.#addText({ kind: 'paragraph', text: text.trim() })
  }

  heading(text: string, level: number): void {
    this.#addText({ kind: 'heading', level: Math.min(Math.max(level, 1), 6), text: text.trim() })
  }

  page(number: number): void {
    if (!this.isFull) this.all.push({ kind: 'page', number })
  }

  /** Adds a row to the table at the end, or begins a table. */
  row(cells: readonly string[], isFirst: boolean): void {
    const kept = cells.slice(0, COLUMNS).map(cell => cell.trim())
    while (kept.at(-1) === '') kept.pop()
    if (this.isFull || kept.length === 0) return
    this.#text.add(`${kept.join('\t')}\n`)
    const last = this.all.at(-1)
    if (!isFirst && last?.kind === 'table') last.rows.push(kept)
    else this.all.push({ kind: 'table', rows: [kept] })
  }

  /** The text of all blocks: a line for each paragraph and row. */
  toString(): string {
    return this.#text.toString()
  }

  #addText(block: Extract<Block, { text: string }>): void {
    if (this.isFull || block.text === '') return
    this.#text.add(`${block.text}\n`)
    this.all.push(block)
  }
}
