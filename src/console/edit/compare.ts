import { defaultKeymap } from '@codemirror/commands'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { base, type EditedText, editing, keepBreaks } from './editor.ts'
import { text } from './text.ts'

/**
 * Compares the stored text with the edited one, which stays editable: side by side, or in one
 * column if there is no room.
 */
export function compare(
  parent: HTMLElement,
  { theirs, mine }: { theirs: EditedText; mine: EditedText },
  onChange: () => void,
): { mine: EditorView; end: () => void } {
  const own = [base(mine, text('mine')), editing(mine.kind, onChange)]
  if (parent.clientWidth < 700) {
    const view = new EditorView({
      parent,
      doc: mine.text,
      extensions: [
        own,
        unifiedMergeView({
          original: EditorState.create({
            doc: theirs.text,
            extensions: keepBreaks(mine.text),
          }).doc,
          mergeControls: false,
          highlightChanges: true,
          gutter: true,
        }),
      ],
    })
    view.dispatch({})
    return { mine: view, end: () => view.destroy() }
  }
  const merge = new MergeView({
    parent,
    a: {
      doc: theirs.text,
      extensions: [
        base(theirs, text('theirs')),
        EditorState.readOnly.of(true),
        keymap.of(defaultKeymap),
      ],
    },
    b: { doc: mine.text, extensions: own },
    collapseUnchanged: { margin: 3, minSize: 8 },
    gutter: true,
  })
  merge.a.dispatch({})
  merge.b.dispatch({})
  return { mine: merge.b, end: () => merge.destroy() }
}
