import type { Command } from 'commander'
import type { RestoreOptions } from '../actions/trash.ts'
import { declare, group, oneOf, perform } from '../command.ts'
import { conflictWords } from '../words.ts'

const actions = () => import('../actions/trash.ts')

const idHelp =
  'satchel trash list shows the ids. garden:<id> is in the trash of the workspace garden (its slug or its id).'

export function declareTrash(program: Command): void {
  const trash = group(
    program,
    'trash',
    'list, restore and delete items in the trash, yours or that of a workspace',
  )

  const list = declare(trash, 'list [workspace]', {
    does: 'list deleted files and folders, newest first',
    examples: ['trash list', 'trash list garden', 'trash list --json'],
  })
  list.action((workspace: string | undefined) =>
    perform(list, async context => (await actions()).list(context, workspace)),
  )

  const restore = declare(trash, 'restore <item...>', {
    does: 'restore deleted files and folders, by their former paths or by their ids',
    details: `If several have the same path, the one deleted last is restored. Missing folders are created. Shares are not
restored. ${idHelp}`,
    examples: [
      'trash restore docs/a.txt',
      'trash restore garden:/plans --on-conflict keep-both',
      'trash restore 0198c0de-0000-7000-8000-000000000000 --to docs/restored',
    ],
  })
    .option('-t, --to <folder>', 'restore into this folder; created if missing')
    .addOption(
      oneOf(
        '--on-conflict <what>',
        'what to do if the name is taken',
        Object.keys(conflictWords),
      ).default('fail'),
    )
  restore.action((items: string[], options: RestoreOptions) =>
    perform(restore, async context => (await actions()).restore(context, items, options)),
  )

  const remove = declare(trash, 'delete <id...>', {
    does: 'delete items from the trash permanently, by their ids',
    details: `This cannot be undone. ${idHelp}`,
    examples: [
      'trash delete 0198c0de-0000-7000-8000-000000000000',
      'trash delete garden:0198c0de-0000-7000-8000-000000000000',
    ],
  })
  remove.action((ids: string[]) =>
    perform(remove, async context => (await actions()).remove(context, ids)),
  )

  const empty = declare(trash, 'empty [workspace]', {
    does: 'delete everything in the trash permanently',
    details:
      'This cannot be undone. Asks for confirmation on a terminal; elsewhere --yes is required.',
    examples: ['trash empty', 'trash empty garden --yes'],
  }).option('-y, --yes', 'do not ask')
  empty.action((workspace: string | undefined, { yes = false }: { yes?: boolean }) =>
    perform(empty, async context => (await actions()).empty(context, workspace, yes)),
  )
}
