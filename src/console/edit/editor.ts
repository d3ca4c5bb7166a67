import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tagHighlighter, tags } from '@lezer/highlight'
import { lineBreakOf } from '../../documents/plain-text.ts'
import type { TextKind } from '../../formats/viewer.ts'
import { grammarOf } from './languages.ts'
import { text } from './text.ts'

/** The colours of the viewer, by its classes. */
const colours = tagHighlighter([
  { tag: [tags.comment, tags.meta, tags.processingInstruction, tags.quote], class: 'hljs-comment' },
  { tag: [tags.keyword, tags.bool, tags.null, tags.tagName, tags.self], class: 'hljs-keyword' },
  { tag: [tags.string, tags.regexp, tags.link, tags.url, tags.inserted], class: 'hljs-string' },
  { tag: [tags.number, tags.atom, tags.deleted, tags.unit, tags.color], class: 'hljs-number' },
  {
    tag: [tags.propertyName, tags.attributeName, tags.className, tags.labelName],
    class: 'hljs-attr',
  },
  { tag: [tags.typeName, tags.standard(tags.variableName)], class: 'hljs-type' },
  { tag: tags.heading, class: 'hljs-section hljs-strong' },
  { tag: tags.strong, class: 'hljs-strong' },
  { tag: tags.emphasis, class: 'hljs-emphasis' },
])

const phrases = () => ({
  Find: text('find'),
  Replace: text('replace'),
  next: text('findNext'),
  previous: text('findPrevious'),
  all: text('findAll'),
  'match case': text('matchCase'),
  regexp: text('regexp'),
  'by word': text('byWord'),
  replace: text('replace'),
  'replace all': text('replaceAll'),
  close: text('close'),
  'current match': text('currentMatch'),
  'replaced $ matches': text('replacedMatches'),
  'replaced match on line $': text('replacedMatch'),
  'on line': text('onLine'),
  'Control character': text('controlCharacter'),
  '$ unchanged lines': text('unchangedLines'),
})

const nonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

export interface EditedText {
  text: string
  kind: TextKind
  /** The name of the file. */
  name: string
}

/**
 * With several kinds of line breaks, only LF ends a line, so that each CR stays where it is. Pasted
 * texts get LF.
 */
export const keepBreaks = (text: string): Extension =>
  lineBreakOf(text) === '\n' && text.includes('\r')
    ? [
        EditorState.lineSeparator.of('\n'),
        EditorView.clipboardInputFilter.of(pasted => pasted.replace(/\r\n?/g, '\n')),
      ]
    : []

/** What editors and comparisons have in common. */
export function base({ text: given, kind, name }: EditedText, label: string): Extension[] {
  const grammar = new Compartment()
  const isProse = kind === 'markdown' || kind === 'text'
  return [
    EditorView.cspNonce.of(nonce()),
    EditorView.darkTheme.of(true),
    keepBreaks(given),
    EditorState.phrases.of(phrases()),
    EditorState.tabSize.of(4),
    lineNumbers(),
    highlightSpecialChars(),
    bracketMatching(),
    isProse ? EditorView.lineWrapping : [],
    syntaxHighlighting(colours),
    search({ top: true }),
    EditorView.contentAttributes.of({
      'aria-label': label,
      spellcheck: String(isProse),
      autocapitalize: isProse ? 'sentences' : 'off',
      dir: 'auto',
    }),
    EditorView.perLineTextDirection.of(true),
    grammar.of([]),
    loadGrammar(kind, name, grammar),
  ]
}

/** Adds the grammar when it has loaded. Without it, the text has no colours. */
const loadGrammar = (kind: TextKind, name: string, grammar: Compartment): Extension => {
  let isAsked = false
  return EditorView.updateListener.of(({ view }) => {
    if (isAsked) return
    isAsked = true
    grammarOf(kind, name)
      .then(found => found && view.dispatch({ effects: grammar.reconfigure(found) }))
      .catch(() => {})
  })
}

export const editing = (kind: TextKind, onChange: () => void): Extension[] => [
  history(),
  indentOnInput(),
  highlightActiveLine(),
  keymap.of([
    ...(kind === 'source' ? [indentWithTab] : []),
    ...defaultKeymap,
    ...historyKeymap,
    ...searchKeymap,
  ]),
  EditorView.updateListener.of(({ docChanged }) => {
    if (docChanged) onChange()
  }),
]

/** The text, with the line breaks of the file. See `keepBreaks` for those of several kinds. */
export const textOf = ({ state }: EditorView, lineBreak: string): string => {
  const text = state.doc.toString()
  return state.facet(EditorState.lineSeparator) ? text : text.replaceAll('\n', lineBreak)
}

/** Shows an editor in an element. */
export function openEditor(parent: HTMLElement, edited: EditedText, onChange: () => void) {
  const view = new EditorView({
    parent,
    doc: edited.text,
    extensions: [base(edited, edited.name), editing(edited.kind, onChange)],
  })
  // The listener that loads the grammar runs with the first update.
  view.dispatch({})
  return view
}

/** Replaces the whole text. Undo brings the old one back. */
export function replaceText(view: EditorView, next: string): void {
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: view.state.toText(next) },
    selection: { anchor: 0 },
    scrollIntoView: true,
  })
}
