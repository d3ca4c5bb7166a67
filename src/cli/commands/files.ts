import { type Command, Option } from 'commander'
import type { CopyOptions } from '../actions/copy.ts'
import type { RemoveOptions } from '../actions/files.ts'
import { declare, perform, wholeNumber } from '../command.ts'

export const pathHelp = `Paths: docs/a.txt, /docs/a.txt or :/docs/a.txt is one of your files; garden:/docs/a.txt is in the workspace garden (its slug or its id).
Put -- before a name that begins with a dash, and a slash before a name that contains a colon: /a:b.`

/** Help for commands that also accept share links. */
export const sharedHelp = `${pathHelp}
https://files.example.com/share/6mJ.../docs/a.txt is in a folder that another person shares, named by its link: satchel received.`

export function declareFiles(program: Command): void {
  const ls = declare(program, 'ls [path]', {
    does: 'list a folder, or one file',
    details: sharedHelp,
    examples: [
      'ls',
      'ls docs',
      'ls -l garden:/plans',
      'ls --tag invoices garden:/',
      'ls --json docs',
    ],
  })
    .option('-l, --long', 'show sizes, times and checksums')
    .option('--tag <tag>', 'show all that has this tag, in the folder and everything below it')
  ls.action((path: string | undefined, { long = false, tag }: { long?: boolean; tag?: string }) =>
    perform(ls, async context =>
      tag === undefined
        ? (await import('../actions/list.ts')).ls(context, path ?? '', long)
        : (await import('../actions/tag.ts')).tagged(context, tag, path ?? '', long),
    ),
  )

  const tree = declare(program, 'tree [folder]', {
    does: 'show a folder with everything below it',
    details: sharedHelp,
    examples: ['tree', 'tree --depth 2 garden:/'],
  }).option('--depth <n>', 'maximum number of levels', wholeNumber(1))
  tree.action((folder: string | undefined, { depth }: { depth?: number }) =>
    perform(tree, async context =>
      (await import('../actions/list.ts')).tree(context, folder ?? '', depth),
    ),
  )

  const mkdir = declare(program, 'mkdir <folder...>', {
    does: 'create folders, with missing parents',
    details: sharedHelp,
    examples: [
      'mkdir docs/2026',
      'mkdir -p docs/2026   # no error if it exists',
      'mkdir garden:/plans',
    ],
  }).option('-p, --parents', 'no error if the folder exists')
  mkdir.action((folders: string[], { parents = false }: { parents?: boolean }) =>
    perform(mkdir, async context =>
      (await import('../actions/files.ts')).mkdir(context, folders, parents),
    ),
  )

  const mv = declare(program, 'mv <path...>', {
    does: 'move or rename files and folders; the last path is the destination',
    details: `A destination that ends with a slash is the folder to move into; missing folders are created. Stored bytes are
not copied: moving a folder takes as long as moving a file. Nothing is replaced.

${sharedHelp}`,
    examples: ['mv a.txt b.txt', 'mv a.txt b.txt docs/', 'mv garden:/plans garden:/archive/2026'],
  })
  mv.action((paths: string[]) =>
    perform(mv, async context => (await import('../actions/files.ts')).move(context, paths)),
  )

  const cp = declare(program, 'cp <path...>', {
    does: 'copy files and folders within a drive or between drives; the last path is the destination',
    details: `A destination that ends with a slash, or is a folder, is the folder to copy into; missing folders are created.
A folder is copied with everything in it. Nothing is downloaded or uploaded, and no bytes are stored twice;
copies count towards your storage. Versions, notes and shares are not copied.`,
    examples: ['cp a.txt b.txt', 'cp a.txt photos docs/', 'cp -k docs/plan.txt garden:/plans/'],
  })
    .option(
      '-r, --recursive',
      'accepted for compatibility: folders are always copied with everything in them',
    )
    .option('--replace', 'replace files with the same names; the replaced files go to the trash')
    .addOption(
      new Option('-k, --keep-both', 'keep existing files, and copy under a free name').conflicts(
        'replace',
      ),
    )
  cp.action((paths: string[], options: CopyOptions) =>
    perform(cp, async context =>
      (await import('../actions/copy.ts')).copy(context, paths, options),
    ),
  )

  const rm = declare(program, 'rm <path...>', {
    does: 'delete files, and folders with -r',
    details: `Deleted files go to the trash, if the service keeps one: satchel trash restore. Their shares end. On a terminal, -r asks for confirmation.
What is deleted in a share goes to the trash of its owner, who can restore it.

${sharedHelp}`,
    examples: ['rm a.txt', 'rm -r docs/old', 'rm -- -odd-name', 'rm -r garden:/plans'],
  })
    .option('-r, --recursive', 'delete folders, too, with everything in them')
    .option('-y, --yes', 'do not ask')
  rm.action((paths: string[], options: RemoveOptions) =>
    perform(rm, async context =>
      (await import('../actions/files.ts')).remove(context, paths, options),
    ),
  )

  const note = declare(program, 'note <path> [text]', {
    does: 'read or write the note on one of your files',
    details:
      'A note belongs to the content of the file: it is kept when the file moves, and identical files share it.',
    examples: [
      'note docs/a.txt',
      "note docs/a.txt 'Signed on Monday'",
      'note docs/a.txt - < note.txt',
      'note docs/a.txt --remove',
    ],
  }).option('--remove', 'remove it')
  note.action((path: string, text: string | undefined, { remove }: { remove?: boolean }) =>
    perform(note, async context =>
      (await import('../actions/note.ts')).note(context, path, remove ? '' : text),
    ),
  )
}
