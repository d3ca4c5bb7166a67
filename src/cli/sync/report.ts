import { Failure } from '../failure.ts'
import type { Answer } from '../run.ts'
import { bytes, plural } from '../table.ts'
import { plain } from '../text.ts'
import { wayBack } from '../way-back.ts'
import type { Plan } from './compare.ts'
import { outermost } from './compare.ts'
import type { Change } from './work.ts'

/**
 * The changes that a plan would make.
 *
 * @param way the direction. With `push`, deleting a folder with its contents is one change.
 */
export function changesOf(plan: Plan, way: 'push' | 'pull'): Change[] {
  const gone = (paths: string[]): Change[] =>
    (way === 'push' ? outermost(paths) : paths).map(path => ({ action: 'delete', path }))
  const first = way === 'push' ? 'upload' : 'download'
  return [
    ...gone(plan.clearings),
    ...plan.moves.map((move): Change => ({ action: 'move', ...move })),
    ...plan.folders.map((path): Change => ({ action: 'mkdir', path })),
    ...plan.files.map(
      ({ path, size, replaces }): Change => ({ action: replaces ? 'replace' : first, path, size }),
    ),
    ...gone(plan.removals),
  ]
}

export const clashOf = (path: string): Failure =>
  new Failure(
    'TARGET_EXISTS',
    `${path} has another kind at the target: a link, a folder instead of a file, or a file instead of a folder. Only --delete replaces one kind by another.`,
    { path },
  )

const order = ['upload', 'download', 'replace', 'move', 'mkdir', 'conflict', 'delete'] as const
/** Actions whose direction is obvious. */
const obvious: Change['action'][] = ['upload', 'download', 'conflict']
const done: Record<Change['action'], string> = {
  upload: 'uploaded',
  download: 'downloaded',
  replace: 'replaced',
  move: 'moved',
  mkdir: 'made',
  delete: 'deleted',
  conflict: 'in conflict, kept twice',
}

interface Outcome {
  source: string
  target: string
  changes: Change[]
  unchanged: number
  failures: Failure[]
  isDryRun: boolean
  /** A deleted path in the form that `satchel trash restore` accepts. */
  show(path: string): string
}

/** A change in words. If both sides may change, it names the side. */
export function lineOf({ action, side, path, from, keptAs }: Change): string {
  const where = side === undefined ? '' : `${placeOf(side).padEnd(5)}  `
  const what =
    from !== undefined
      ? `${from} -> ${path}`
      : keptAs !== undefined
        ? `${path}: yours is kept as ${keptAs}`
        : path
  const verb =
    action === 'replace' && side !== undefined ? (side === 'local' ? 'download' : 'upload') : action
  return plain(`${verb.padEnd(8)}  ${where}${what}`)
}

const placeOf = (side: 'local' | 'remote'): string => (side === 'local' ? 'here' : 'there')

export function answerOf({
  source,
  target,
  changes,
  unchanged,
  failures,
  isDryRun,
  show,
}: Outcome): Answer {
  const counted = ([undefined, 'local', 'remote'] as const).flatMap(side =>
    order.map(action => ({ action, side })),
  )
  const counts = counted.flatMap(({ action, side }) => {
    const all = changes.filter(change => change.action === action && change.side === side)
    if (all.length === 0) return []
    const where = side === undefined || obvious.includes(action) ? '' : ` ${placeOf(side)}`
    const size = all.reduce((sum, change) => sum + (change.size ?? 0), 0)
    const noun = action === 'mkdir' ? plural(all.length, 'folder') : String(all.length)
    return [`${noun} ${done[action]}${where}${size > 0 ? ` (${bytes(size)})` : ''}`]
  })
  const summary = `${[...counts, `${unchanged} unchanged`].join(', ')}.`
  const kept = changes.flatMap(({ path, trashItemId }) => (trashItemId ? [show(path)] : []))
  const planned = isDryRun ? changes.map(lineOf) : []
  const words = [
    ...planned,
    isDryRun ? `Dry run: ${summary} Nothing was changed.` : summary,
    wayBack(kept),
  ]
  return {
    fact: { source, target, dryRun: isDryRun, changes, unchanged },
    words: words.filter(line => line !== '').join('\n'),
    failures,
  }
}
