import escapeHtml from 'escape-html'
import type { ShownBrand } from '../http/brand.ts'
import { branded, catalogue, type Say, type Values } from '../language/catalogue.ts'
import type { Language } from '../language/languages.ts'
import de from './messages/de.json' with { type: 'json' }
import en from './messages/en.json' with { type: 'json' }

const catalogues = catalogue({ en, de })

export type TextKey = keyof typeof en

/** Values that a script fills in. */
const places = Object.fromEntries(
  ['count', 'most', 'name', 'sent', 'size'].map(name => [name, `{${name}}`]),
)

/** The readers of the messages of pages, in one language. */
export interface Texts {
  language: Language
  /** The name of this service. */
  service: string
  say: Say<TextKey>
  /**
   * A message as HTML. Numbers are formatted, and all other values are HTML, usually of a partial,
   * which ends with a newline.
   */
  rich(key: TextKey, values: Values): string
  /** Messages for a script as JSON, in which it replaces `{name}`. */
  forScript(keys: TextKey[]): string
}

export function textsIn(language: Language, { name }: Pick<ShownBrand, 'name'>): Texts {
  const say = branded(catalogues[language], name)
  return {
    language,
    service: name,
    say,
    rich(key, values) {
      const html: string[] = []
      const marked = Object.entries(values).map(([name, value]) => [
        name,
        typeof value === 'number' ? value : `\u{e000}${html.push(value.trim()) - 1}\u{e001}`,
      ])
      const text = escapeHtml(say(key, Object.fromEntries(marked)))
      return text.replace(/\u{e000}(\d+)\u{e001}/gu, (_, i) => html[i] ?? '')
    },
    forScript: keys => JSON.stringify(Object.fromEntries(keys.map(key => [key, say(key, places)]))),
  }
}
