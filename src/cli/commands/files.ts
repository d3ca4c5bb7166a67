import type { Command } from 'commander'
import type { RemoveOptions } from '../actions/files.ts'
import { declare, perform, wholeNumber } from '../command.ts'

export const pathHelp = `Paths: docs/a.txt or /docs/a.txt is yours; garden:/docs/a.txt is of the workspace garden (its slug or its id).
A name that begins with a dash goes behind --, and one of yours that looks like a workspace behind a slash: /a:b.`

export function declareFiles(program: Command): void {
  const ls = declare(program, 'ls [path]', {
    does: 'list a folder, or one file',
    details: pathHelp,
    examples: ['ls', 'ls docs', 'ls -l garden:/plans', 'ls --json docs'],
  }).option('-l, --long', 'with sizes, times and checksums')
  ls.action((path: string | undefined, { long = false }: { long?: boolean }) =>
    perform(ls, async context => (await import('../actions/list.ts')).ls(context, path ?? '', long)),
  )

  const tree = declare(program, 'tree [folder]', {
    does: 'show a folder with all that is below it',
    details: pathHelp,
    examples: ['tree', 'tree --depth 2 garden:/'],
  }).option('--depth <n>', 'so many levels at most', wholeNumber(1))
  tree.action((folder: string | undefined, { depth }: { depth?: number }) =>
    perform(tree, async context => (await import('../actions/list.ts')).tree(context, folder ?? '', depth)),
  )

  const mkdir = declare(program, 'mkdir <folder...>', {
    does: 'make folders, with those above them',
    examples: ['mkdir docs/2026', 'mkdir -p docs/2026   # says nothing of one that is there', 'mkdir garden:/plans'],
  }).option('-p, --parents', 'no failure where the folder is there')
  mkdir.action((folders: string[], { parents = false }: { parents?: boolean }) =>
    perform(mkdir, async context => (await import('../actions/files.ts')).mkdir(context, folders, parents)),
  )

  const mv = declare(program, 'mv <path...>', {
    does: 'move or rename files and folders; the last path is the destination',
    details: `A destination that ends in a slash is the folder to move into; folders that are missing are made. Whatever
is moved stays where it is stored: the whole takes as long as one file. Nothing is replaced.`,
    examples: ['mv a.txt b.txt', 'mv a.txt b.txt docs/', 'mv garden:/plans garden:/archive/2026'],
  })
  mv.action((paths: string[]) =>
    perform(mv, async context => (await import('../actions/files.ts')).move(context, paths)),
  )

  const rm = declare(program, 'rm <path...>', {
    does: 'delete files, and folders with -r',
    details: 'Deleted files cannot be restored, and their shares end. On a terminal, -r asks first.',
    examples: ['rm a.txt', 'rm -r docs/old', 'rm -- -odd-name', 'rm -r garden:/plans'],
  })
    .option('-r, --recursive', 'folders, too, with all that is in them')
    .option('-y, --yes', 'do not ask')
  rm.action((paths: string[], options: RemoveOptions) =>
    perform(rm, async context => (await import('../actions/files.ts')).remove(context, paths, options)),
  )

  const note = declare(program, 'note <path> [text]', {
    does: 'read the note on a file of yours, or write it',
    details: 'A note belongs to what is in the file: it stays through moves, and equal files share it.',
    examples: [
      'note docs/a.txt',
      "note docs/a.txt 'Signed on Monday'",
      'note docs/a.txt - < note.txt',
      'note docs/a.txt --remove',
    ],
  }).option('--remove', 'remove it')
  note.action((path: string, text: string | undefined, { remove }: { remove?: boolean }) =>
    perform(note, async context => (await import('../actions/note.ts')).note(context, path, remove ? '' : text)),
  )
}
