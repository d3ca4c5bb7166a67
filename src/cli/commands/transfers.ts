import type { Command } from 'commander'
import type { GetOptions } from '../actions/get.ts'
import type { PutOptions } from '../actions/put.ts'
import { declare, perform, wholeNumber } from '../command.ts'
import { pathHelp } from './files.ts'

const parallelOption = ['--parallel <n>', 'how many requests at a time', wholeNumber(1), 4] as const

export function declareTransfers(program: Command): void {
  const put = declare(program, 'put <file...>', {
    does: 'upload files, folders, or standard input (-)',
    details: `A folder goes with all that is in it, under its own name. What is there already with the same bytes is left as
it is; other bytes under the same name are a conflict, and nothing is replaced. Large files go in parts: after a
break, Ctrl-C or a restart the same command goes on where it was. What has arrived is compared by its MD5.
Links that are named are followed; those within folders are left out, unless --follow.
Standard input needs --name; it streams without a size and without a copy on this disk, so it cannot be gone on
with after a break.

${pathHelp}`,
    examples: [
      'put a.txt',
      'put -v photos letters --to archive/2026',
      'put film.mp4 --to garden:/films',
      'tar c src | satchel put - --name src.tar --to backups',
    ],
  })
    .option('-t, --to <folder>', 'folder to put it in; missing ones are made')
    .option('-n, --name <name>', 'another name than the file has')
    .option('--follow', 'follow links within folders')
    .option(...parallelOption)
  put.action((files: string[], options: PutOptions) =>
    perform(put, async context => (await import('../actions/put.ts')).put(context, files, options)),
  )

  const get = declare(program, 'get <path...>', {
    does: 'download files, folders, or what a sharing link leads to',
    details: `Bytes go to a file that ends in .part, which takes its name when it is whole and its MD5 is right; after a break,
Ctrl-C or a restart the same command goes on where it was. A file that is here already with the same bytes is
left as it is; one with other bytes is a conflict, unless --force.

${pathHelp}`,
    examples: [
      'get docs/a.txt',
      'get docs/a.txt -o b.txt',
      'get -v docs garden:/plans -o backup/',
      'get docs/a.tar -o - | tar x',
      'get https://files.example.com/share/6mJ...   # asks for the password where there is one',
    ],
  })
    .option('-o, --output <file>', 'folder to put it in, or another name for one file; - for standard output')
    .option('-f, --force', 'replace files that are here with other bytes')
    .option('--password', 'the link has a password: ask for it, or read it from standard input')
    .option(...parallelOption)
  get.action((paths: string[], options: GetOptions) =>
    perform(get, async context => (await import('../actions/get.ts')).get(context, paths, options)),
  )
}
