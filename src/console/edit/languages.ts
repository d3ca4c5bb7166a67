import { LanguageSupport, StreamLanguage, type StreamParser } from '@codemirror/language'
import { languageOf, type TextKind } from '../../formats/viewer.ts'

const stream = (parser: StreamParser<unknown>) => new LanguageSupport(StreamLanguage.define(parser))

const clike = () => import('@codemirror/legacy-modes/mode/clike')
const styles = () => import('@codemirror/legacy-modes/mode/css')
const scripts = () => import('@codemirror/lang-javascript')

/**
 * The grammars of the editor, by the names of those of the viewer. Each loads when it is needed.
 */
const grammars: Record<string, () => Promise<LanguageSupport>> = {
  bash: async () => stream((await import('@codemirror/legacy-modes/mode/shell')).shell),
  c: async () => stream((await clike()).c),
  cpp: async () => stream((await clike()).cpp),
  csharp: async () => stream((await clike()).csharp),
  css: async () => (await import('@codemirror/lang-css')).css(),
  diff: async () => stream((await import('@codemirror/legacy-modes/mode/diff')).diff),
  go: async () => stream((await import('@codemirror/legacy-modes/mode/go')).go),
  ini: async () => stream((await import('@codemirror/legacy-modes/mode/properties')).properties),
  java: async () => stream((await clike()).java),
  javascript: async () => (await scripts()).javascript({ jsx: true }),
  json: async () => stream((await import('@codemirror/legacy-modes/mode/javascript')).json),
  kotlin: async () => stream((await clike()).kotlin),
  less: async () => stream((await styles()).less),
  lua: async () => stream((await import('@codemirror/legacy-modes/mode/lua')).lua),
  perl: async () => stream((await import('@codemirror/legacy-modes/mode/perl')).perl),
  python: async () => stream((await import('@codemirror/legacy-modes/mode/python')).python),
  r: async () => stream((await import('@codemirror/legacy-modes/mode/r')).r),
  ruby: async () => stream((await import('@codemirror/legacy-modes/mode/ruby')).ruby),
  rust: async () => stream((await import('@codemirror/legacy-modes/mode/rust')).rust),
  scss: async () => stream((await styles()).sCSS),
  sql: async () => stream((await import('@codemirror/legacy-modes/mode/sql')).standardSQL),
  swift: async () => stream((await import('@codemirror/legacy-modes/mode/swift')).swift),
  typescript: async () => (await scripts()).javascript({ typescript: true, jsx: true }),
  vbnet: async () => stream((await import('@codemirror/legacy-modes/mode/vb')).vb),
  xml: async () => stream((await import('@codemirror/legacy-modes/mode/xml')).xml),
  yaml: async () => stream((await import('@codemirror/legacy-modes/mode/yaml')).yaml),
}

/** The grammar for a file; undefined if there is none. Colours are optional. */
export async function grammarOf(
  kind: TextKind,
  name: string,
): Promise<LanguageSupport | undefined> {
  if (kind === 'markdown') return (await import('@codemirror/lang-markdown')).markdown()
  if (kind !== 'source') return undefined
  if (/\.(html?|xhtml|vue)$/i.test(name)) return (await import('@codemirror/lang-html')).html()
  return grammars[languageOf(name) ?? '']?.()
}
