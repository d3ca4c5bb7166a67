import { Argument, type Command } from 'commander'
import { declare, group, oneOf, perform } from '../command.ts'
import { type InviteRole, inviteRoles, type MemberRole, memberRoles } from '../words.ts'

const actions = () => import('../actions/workspace.ts')
const invites = () => import('../actions/invite.ts')

/** Workspaces are identified by slug or id, members by email address or id. */
export function declareWorkspaces(program: Command): void {
  const workspace = group(program, 'workspace', 'workspaces, their members and invites')

  const list = declare(workspace, 'list', {
    does: 'list your workspaces',
    examples: ['workspace list', 'workspace list --json'],
  })
  list.action(() => perform(list, async context => (await actions()).list(context)))

  const create = declare(workspace, 'create <name>', {
    does: 'create a workspace, with you as its owner',
    examples: ['workspace create Garden', "workspace create 'Our garden' --slug garden"],
  }).option(
    '--slug <slug>',
    'short name in paths: a-z, 0-9 and -; derived from the name by default',
  )
  create.action((name: string, { slug }: { slug?: string }) =>
    perform(create, async context => (await actions()).create(context, name, slug)),
  )

  const rename = declare(workspace, 'rename <workspace> <name>', {
    does: 'rename a workspace',
    examples: ['workspace rename garden Park', 'workspace rename garden Park --slug park'],
  }).option('--slug <slug>', 'another short name')
  rename.action((named: string, name: string, { slug }: { slug?: string }) =>
    perform(rename, async context => (await actions()).rename(context, named, name, slug)),
  )

  const remove = declare(workspace, 'delete <workspace>', {
    does: 'delete a workspace with all its files',
    details:
      'This cannot be undone. Asks for confirmation on a terminal; elsewhere --yes is required.',
    examples: ['workspace delete garden', 'workspace delete garden --yes'],
  }).option('-y, --yes', 'do not ask')
  remove.action((named: string, { yes = false }: { yes?: boolean }) =>
    perform(remove, async context => (await actions()).remove(context, named, yes)),
  )

  const members = declare(workspace, 'members <workspace>', {
    does: 'list the members',
    examples: ['workspace members garden'],
  })
  members.action((named: string) =>
    perform(members, async context => (await actions()).members(context, named)),
  )

  const role = declare(workspace, 'role <workspace> <member>', {
    does: 'change the role of a member',
    examples: ['workspace role garden bob@example.com editor'],
  }).addArgument(new Argument('<role>', 'the new role').choices(memberRoles))
  role.action((named: string, member: string, to: MemberRole) =>
    perform(role, async context => (await actions()).role(context, named, member, to)),
  )

  const dismiss = declare(workspace, 'remove <workspace> <member>', {
    does: 'remove a member',
    examples: ['workspace remove garden bob@example.com'],
  })
  dismiss.action((named: string, member: string) =>
    perform(dismiss, async context => (await actions()).dismiss(context, named, member)),
  )

  const leave = declare(workspace, 'leave <workspace>', {
    does: 'leave a workspace',
    examples: ['workspace leave garden'],
  })
  leave.action((named: string) =>
    perform(leave, async context => (await actions()).leave(context, named)),
  )

  const invite = declare(workspace, 'invite <workspace> <email>', {
    does: 'invite a person, who receives a mail with the link',
    examples: ['workspace invite garden bob@example.com --role editor'],
  })
    .addOption(oneOf('--role <role>', 'role of the new member', inviteRoles).default('viewer'))
    .option('--message <text>', 'a message for the mail')
  invite.action((named: string, email: string, options: { role: InviteRole; message?: string }) =>
    perform(invite, async context => (await invites()).invite(context, named, email, options)),
  )

  const pending = declare(workspace, 'invites [workspace]', {
    does: 'list your invites, or those of a workspace',
    examples: ['workspace invites', 'workspace invites garden'],
  })
  pending.action((named: string | undefined) =>
    perform(pending, async context => (await invites()).invites(context, named)),
  )

  const withdraw = declare(workspace, 'uninvite <workspace> <email>', {
    does: 'withdraw an invite',
    examples: ['workspace uninvite garden bob@example.com'],
  })
  withdraw.action((named: string, email: string) =>
    perform(withdraw, async context => (await invites()).withdraw(context, named, email)),
  )

  const accept = declare(workspace, 'accept <invite>', {
    does: 'accept an invite: its link or token, or the workspace',
    examples: [
      'workspace accept garden',
      'workspace accept https://files.example.com/invite/9Qe...',
    ],
  })
  accept.action((link: string) =>
    perform(accept, async context => (await invites()).accept(context, link)),
  )

  const reject = declare(workspace, 'reject <invite>', {
    does: 'reject an invite: its link or token, or the workspace',
    examples: ['workspace reject garden'],
  })
  reject.action((link: string) =>
    perform(reject, async context => (await invites()).reject(context, link)),
  )
}
