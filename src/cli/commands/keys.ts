import type { Command } from 'commander'
import type { NewKeyOptions } from '../actions/key.ts'
import { declare, group, perform, several } from '../command.ts'
import { duration, privateWords, workspaceWords } from '../words.ts'

const actions = () => import('../actions/key.ts')
const workspaceOption = [
  '--workspace <workspace>',
  'keys of this workspace (slug or id) instead of your own',
] as const

const scopeHelp = `Scopes of your own keys:       ${Object.keys(privateWords).join(', ')}
Scopes of keys of a workspace: ${Object.keys(workspaceWords).join(', ')}
The full names of scopes work, too. Keys cannot manage keys: sign in with --session.`

export function declareKeys(program: Command): void {
  const keys = group(program, 'keys', 'manage API keys, your own and those of workspaces')

  const list = declare(keys, 'list', {
    does: 'list keys, without their secrets',
    examples: ['keys list', 'keys list --workspace garden'],
  }).option(...workspaceOption)
  list.action(({ workspace }: { workspace?: string }) =>
    perform(list, async context => (await actions()).list(context, workspace)),
  )

  const create = declare(keys, 'create <name>', {
    does: 'create a key, which is shown only once',
    details: scopeHelp,
    examples: [
      'keys create laptop --scope read --scope write',
      'keys create backup --workspace garden --scope files:read --for 1y',
    ],
  })
    .requiredOption('--scope <scope>', 'a scope; repeat it for several', several)
    .option('--for <duration>', 'lifetime: 12h, 90d, 1y; unlimited by default', duration)
    .option('--description <text>', 'what the key is for')
    .option(...workspaceOption)
  create.action((name: string, options: NewKeyOptions) =>
    perform(create, async context => (await actions()).create(context, name, options)),
  )

  const remove = declare(keys, 'delete <key>', {
    does: 'delete a key, by its id or its name; its next request is refused',
    examples: [
      'keys delete laptop',
      'keys delete 0198c0de-0000-7000-8000-000000000000 --workspace garden',
    ],
  }).option(...workspaceOption)
  remove.action((named: string, { workspace }: { workspace?: string }) =>
    perform(remove, async context => (await actions()).remove(context, named, workspace)),
  )
}
