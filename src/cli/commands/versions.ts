import type { Command } from 'commander'
import type { GetVersionOptions } from '../actions/versions.ts'
import { declare, group, perform } from '../command.ts'

const actions = () => import('../actions/versions.ts')

const idHelp =
  'satchel versions list shows the ids. garden:<id> belongs to a file in the workspace garden (its slug or its id).'
const example = '0198c0de-0000-7000-8000-000000000000'

export function declareVersions(program: Command): void {
  const versions = group(
    program,
    'versions',
    'list, download, restore and delete replaced contents of files',
  )

  const list = declare(versions, 'list <path>', {
    does: 'list the replaced contents of a file, newest first',
    examples: ['versions list docs/a.txt', 'versions list garden:/plan.txt --json'],
  })
  list.action((path: string) =>
    perform(list, async context => (await actions()).list(context, path)),
  )

  const get = declare(versions, 'get <id>', {
    does: 'download a replaced content of a file',
    details: idHelp,
    examples: [`versions get ${example} -o old.txt`, `versions get garden:${example}`],
  })
    .option('-o, --output <file>', 'store under this name instead of the name of the file')
    .option('-f, --force', 'replace a local file with other bytes')
  get.action((id: string, options: GetVersionOptions) =>
    perform(get, async context => (await actions()).get(context, id, options)),
  )

  const restore = declare(versions, 'restore <id...>', {
    does: 'restore replaced contents: make them the content of their files again',
    details: `The present contents of the files are kept as versions. ${idHelp}`,
    examples: [`versions restore ${example}`],
  })
  restore.action((ids: string[]) =>
    perform(restore, async context => (await actions()).restore(context, ids)),
  )

  const remove = declare(versions, 'delete <id...>', {
    does: 'delete replaced contents permanently',
    details: `This cannot be undone. ${idHelp}`,
    examples: [`versions delete ${example}`],
  })
  remove.action((ids: string[]) =>
    perform(remove, async context => (await actions()).remove(context, ids)),
  )
}
