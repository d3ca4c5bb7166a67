import type { Command } from 'commander'
import type { RestoreOptions } from '../actions/trash.ts'
import { declare, group, oneOf, perform } from '../command.ts'
import { conflictWords } from '../words.ts'

const actions = () => import('../actions/trash.ts')

const idHelp =
  'satchel trash list shows the ids. garden:<id> is in the trash of the workspace garden (its slug or its id).'

/** What satchel rm has deleted, until it is gone for ever. */
export function declareTrash(program: Command): void {
  const trash = group(program, 'trash', 'deleted files and folders, yours and those of workspaces')

  const list = declare(trash, 'list [workspace]', {
    does: 'list what was deleted and can be restored, the newest first',
    examples: ['trash list', 'trash list garden', 'trash list --json'],
  })
  list.action((workspace: string | undefined) =>
    perform(list, async context => (await actions()).list(context, workspace)),
  )

  const restore = declare(trash, 'restore <item...>', {
    does: 'restore deleted files and folders, by the paths that they had or by their ids',
    details: `Of several with the same path, the one deleted last is restored. Missing folders are created. Shares do not
come back. ${idHelp}`,
    examples: [
      'trash restore docs/a.txt',
      'trash restore garden:/plans --on-conflict keep-both',
      'trash restore 0198c0de-0000-7000-8000-000000000000 --to docs/restored',
    ],
  })
    .option('-t, --to <folder>', 'another folder to restore into; created if missing')
    .addOption(
      oneOf('--on-conflict <what>', 'if something of that name is there', Object.keys(conflictWords)).default('fail'),
    )
  restore.action((items: string[], options: RestoreOptions) =>
    perform(restore, async context => (await actions()).restore(context, items, options)),
  )

  const remove = declare(trash, 'delete <id...>', {
    does: 'delete from the trash for ever, by ids',
    details: `This cannot be undone. ${idHelp}`,
    examples: [
      'trash delete 0198c0de-0000-7000-8000-000000000000',
      'trash delete garden:0198c0de-0000-7000-8000-000000000000',
    ],
  })
  remove.action((ids: string[]) => perform(remove, async context => (await actions()).remove(context, ids)))

  const empty = declare(trash, 'empty [workspace]', {
    does: 'delete everything in the trash for ever',
    details: 'This cannot be undone. Asks for confirmation on a terminal; elsewhere --yes is required.',
    examples: ['trash empty', 'trash empty garden --yes'],
  }).option('-y, --yes', 'do not ask')
  empty.action((workspace: string | undefined, { yes = false }: { yes?: boolean }) =>
    perform(empty, async context => (await actions()).empty(context, workspace, yes)),
  )
}
