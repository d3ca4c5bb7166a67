import { type Command, Option } from 'commander'
import type { GetOptions } from '../actions/get.ts'
import type { PutOptions } from '../actions/put.ts'
import type { SyncOptions } from '../actions/sync.ts'
import type { BothOptions } from '../actions/sync-both.ts'
import { declare, perform, several, wholeNumber } from '../command.ts'
import { Failure } from '../failure.ts'
import { pathHelp, sharedHelp } from './files.ts'

const parallelOption = ['--parallel <n>', 'number of parallel requests', wholeNumber(1), 4] as const

export function declareTransfers(program: Command): void {
  const put = declare(program, 'put <file...>', {
    does: 'upload files, folders, or standard input (-)',
    details: `A folder is uploaded with everything in it, under its own name. A remote file with the same content is left as it
is. One with other content is a conflict, unless you use --replace, which keeps the old content as a version, or
--keep-both, which chooses a free name such as "report (2).pdf". Large files are sent in parts: after a network error,
Ctrl-C or a restart, the same command resumes. Uploads are verified with checksums.
Symbolic links given as arguments are followed; those within folders are skipped, unless --follow.
Standard input needs --name; it is streamed without a local copy, so it cannot be resumed.
The destination may be what somebody lets you edit, by its link; a single shared file is replaced with --replace.

${sharedHelp}`,
    examples: [
      'put a.txt',
      'put -v photos letters --to archive/2026',
      'put film.mp4 --to garden:/films',
      'put --replace report.pdf --to docs',
      'put --keep-both report.pdf --to docs',
      'tar c src | satchel put - --name src.tar --to backups',
      'put plan.txt --to https://files.example.com/share/6mJ.../docs',
    ],
  })
    .option('-t, --to <folder>', 'destination folder; created if missing')
    .option('-n, --name <name>', 'store under another name')
    .option('-r, --replace', 'replace remote files that have other content; see satchel versions')
    .addOption(
      new Option(
        '-k, --keep-both',
        'keep remote files that have other content, and store under a free name',
      ).conflicts('replace'),
    )
    .option('--follow', 'follow symbolic links within folders')
    .option(...parallelOption)
  put.action((files: string[], options: PutOptions) =>
    perform(put, async context => (await import('../actions/put.ts')).put(context, files, options)),
  )

  const get = declare(program, 'get <path...>', {
    does: 'download files, folders, or the files of a sharing link',
    details: `Bytes are written to a .part file, which is renamed once it is complete and its MD5 is verified. After a network
error, Ctrl-C or a restart, the same command resumes. A local file with the same content is left as it is; one with
other content is a conflict, unless you use --force. With --zip, files and folders of one drive are downloaded as one
ZIP archive. The folder of a sharing link is always one ZIP archive.

${pathHelp}`,
    examples: [
      'get docs/a.txt',
      'get docs/a.txt -o b.txt',
      'get -v docs garden:/plans -o backup/',
      'get docs/a.tar -o - | tar x',
      'get --zip photos letters -o backup.zip',
      'get https://files.example.com/share/6mJ...   # asks for the password if there is one',
    ],
  })
    .option(
      '-o, --output <file>',
      'destination folder, or another name for a single file; - for standard output',
    )
    .option('-f, --force', 'replace local files that have other content')
    .option('-z, --zip', 'download one ZIP archive instead of files and folders')
    .option('--password', 'the link has a password: prompt for it, or read it from standard input')
    .option(...parallelOption)
  get.action((paths: string[], options: GetOptions) =>
    perform(get, async context => (await import('../actions/get.ts')).get(context, paths, options)),
  )

  const sync = declare(program, 'sync <source> <target>', {
    does: 'make a remote folder like a local one, a local one like a remote one, or keep both the same',
    details: `The remote side has a colon: :/docs is one of your folders, garden:/docs is in the workspace garden. New files are
copied, and files with other content are replaced; remote ones keep their old content as a version. Files that only
the target has are kept, unless you use --delete: then remote files go to the trash, and local files are deleted
permanently. The command asks before it deletes local files, or if the local source has no file (an unmounted disk).
A file that changes on the target while the command runs is a conflict and stays as it is.
The next run reads only the events since this one; after an interruption, the same command resumes.
Patterns are those of a .gitignore, relative to the folders. Files that they leave out are neither copied nor deleted.
Symbolic links are skipped.

--two-way makes both like each other: what has changed on one side since the last run is changed on the other one,
renamed and deleted there, too. What has changed on both is kept twice: yours gets a name such as
"plan (conflict 2026-11-26 laptop).txt". A changed file is not deleted. Local files that are deleted or replaced are
kept in the folder .satchel/trash for 30 days. The first run merges both sides and deletes nothing. --watch goes on
until it is interrupted. Patterns also come from the file .satchelignore in the local folder.`,
    examples: [
      'sync photos :/photos',
      'sync --delete --dry-run site garden:/site',
      "sync --exclude node_modules/ --exclude '*.tmp' . :/projects/app",
      'sync --delete --yes garden:/plans plans',
      'sync --two-way notes :/notes',
      'sync --watch plans garden:/plans   # both ways, until it is interrupted',
    ],
  })
    .addOption(
      new Option('--delete', 'delete files that the source does not have').conflicts([
        'watch',
        'twoWay',
      ]),
    )
    .option('--two-way', 'keep both sides the same')
    .addOption(
      new Option('--watch', 'with --two-way, which it implies: go on with what changes').implies({
        twoWay: true,
      }),
    )
    .option(
      '--max-delete <n>',
      'with --two-way: how many files may be deleted; by default half of them',
      wholeNumber(0),
    )
    .option(
      '--reset',
      'with --two-way: forget earlier runs and merge both sides, which deletes nothing',
    )
    .option('--dry-run', 'only show what would be done')
    .option('--include <pattern>', 'only files that match; repeat it for several', several)
    .option('--exclude <pattern>', 'leave out files that match; repeat it for several', several)
    .option('-y, --yes', 'do not ask for confirmation before deleting files')
    .option(...parallelOption)
  sync.action(
    (source: string, target: string, options: SyncOptions & BothOptions & { twoWay?: boolean }) =>
      perform(sync, async context => {
        if (options.twoWay)
          return (await import('../actions/sync-both.ts')).syncBoth(
            context,
            source,
            target,
            options,
          )
        if (options.reset || options.maxDelete !== undefined)
          throw new Failure(
            'USAGE',
            `${options.reset ? '--reset' : '--max-delete'} needs --two-way.`,
          )
        return (await import('../actions/sync.ts')).sync(context, source, target, options)
      }),
  )
}
