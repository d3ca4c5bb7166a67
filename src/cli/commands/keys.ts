import type { Command } from 'commander'
import type { NewKeyOptions } from '../actions/key.ts'
import { declare, group, perform, several } from '../command.ts'
import { duration, privateWords, workspaceWords } from '../words.ts'

const actions = () => import('../actions/key.ts')
const workspaceOption = ['--workspace <workspace>', 'of a workspace, by its slug or id, instead of yours'] as const

const scopeHelp = `Scopes of your own keys:       ${Object.keys(privateWords).join(', ')}
Scopes of keys of a workspace: ${Object.keys(workspaceWords).join(', ')}
The names that the service has for them work, too. No key may make, list or delete keys: sign in with --session.`

export function declareKeys(program: Command): void {
  const keys = group(program, 'keys', 'API keys, your own and those of workspaces')

  const list = declare(keys, 'list', {
    does: 'list keys, without their secrets',
    examples: ['keys list', 'keys list --workspace garden'],
  }).option(...workspaceOption)
  list.action(({ workspace }: { workspace?: string }) =>
    perform(list, async context => (await actions()).list(context, workspace)),
  )

  const create = declare(keys, 'create <name>', {
    does: 'make a key, which is shown this once',
    details: scopeHelp,
    examples: [
      'keys create laptop --scope read --scope write',
      'keys create backup --workspace garden --scope files:read --for 1y',
    ],
  })
    .requiredOption('--scope <scope>', 'what it may do; several times for several', several)
    .option('--for <duration>', 'how long it lives: 12h, 90d, 1y; for ever without it', duration)
    .option('--description <text>', 'what it is for')
    .option(...workspaceOption)
  create.action((name: string, options: NewKeyOptions) =>
    perform(create, async context => (await actions()).create(context, name, options)),
  )

  const remove = declare(keys, 'delete <key>', {
    does: 'delete a key, by its id or its name; its next call is refused',
    examples: ['keys delete laptop', 'keys delete 0198c0de-0000-7000-8000-000000000000 --workspace garden'],
  }).option(...workspaceOption)
  remove.action((named: string, { workspace }: { workspace?: string }) =>
    perform(remove, async context => (await actions()).remove(context, named, workspace)),
  )
}
