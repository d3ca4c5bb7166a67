import type { Db } from '../../db/index.ts'
import { InvalidInput } from '../runtime/errors.ts'
import { wholeNumber } from '../runtime/program.ts'
import { table } from '../runtime/table.ts'
import { type GrantView, grantService } from '../services/sharing/grant.ts'
import { type GrantKind, grantKinds } from '../values/grant.ts'
import type { Program } from './plan.ts'

/** Commander calls `--no-expiry` the option `expiry`, which is then false. */
interface Options {
  user?: string
  workspace?: string
  kind: string[]
  expiry: boolean
  password: boolean
  breakingRules: boolean
  limit: number
}

function readKind(text: string): GrantKind {
  const kind = grantKinds.find(one => one === text)
  if (!kind)
    throw new InvalidInput(
      'kind',
      `There is no kind "${text}". The kinds are: ${grantKinds.join(', ')}.`,
    )
  return kind
}

/** @throws INVALID_INPUT */
async function workspaceOf(db: Db, slug: string): Promise<string> {
  const workspace = await db.Workspace.findOne({ where: { slug }, raw: true })
  if (!workspace) throw new InvalidInput('workspace', `There is no workspace "${slug}".`)
  return workspace.id
}

const terms = (grant: GrantView): string =>
  [
    grant.hasPassword ? 'password' : 'no password',
    ...(grant.mayEdit ? ['may edit'] : []),
    ...(grant.isPaused ? ['suspended'] : []),
    ...grant.brokenRules.map(rule => `breaks the rule about ${rule}`),
  ].join(', ')

/** Declares the commands about the links, shares and file requests of all people. */
export function grantCommands({ command, run }: Program): void {
  command('shares', 'lists the links, shares and file requests of all people, newest first')
    .option('--user <user>', 'only those of this user')
    .option('--workspace <slug>', 'only those of files of this workspace')
    .option(
      '--kind <kind>',
      `only ${grantKinds.join(', ')}; may be repeated`,
      (kind: string, all: string[]) => [...all, kind],
      [],
    )
    .option('--no-expiry', 'only those that never expire')
    .option('--no-password', 'only those without a password')
    .option('--breaking-rules', 'only those that break a rule of the settings', false)
    .option('--limit <n>', 'how many at most', wholeNumber(1), 100)
    .addHelpText('after', '\nReading the list is noted in the audit trail.')
    .action(({ user, workspace, kind, limit, expiry, password, breakingRules }: Options) =>
      run(async (operator, { db, config }) => {
        const { rows, more } = await grantService({ ...config, db }).page(
          {
            kinds: kind.map(readKind),
            userId: user === undefined ? null : (await operator.user(user)).id,
            workspaceId: workspace === undefined ? null : await workspaceOf(db, workspace),
            neverExpires: !expiry,
            noPassword: !password,
            breaksRules: breakingRules,
          },
          null,
          limit,
          null,
        )
        const users = await db.User.findAll({
          where: { id: [...new Set(rows.map(({ userId }) => userId))] },
          attributes: ['id', 'email'],
          raw: true,
        })
        const emails = new Map(users.map(({ id, email }) => [id, email]))
        const lines = rows.map(grant => [
          grant.id,
          grant.kind,
          emails.get(grant.userId) ?? grant.userId,
          grant.recipient ?? '-',
          grant.name,
          grant.workspaceName ?? '-',
          grant.expiresAt === null ? 'never' : new Date(Number(grant.expiresAt)).toISOString(),
          `${grant.uses}${grant.maxUses === null ? '' : ` of ${grant.maxUses}`}`,
          terms(grant),
        ])
        const head = ['ID', 'KIND', 'BY', 'FOR', 'WHAT', 'WORKSPACE', 'UNTIL', 'USES', 'TERMS']
        const words = lines.length === 0 ? 'Nothing is shared.' : table([head, ...lines])
        return {
          fact: { shares: rows, more },
          words: more ? `${words}\nThere are more; see --limit.` : words,
        }
      }),
    )

  command('end-shares <ids...>', 'ends links, shares and file requests, by their ids').action(
    (ids: string[]) =>
      run(async (_operator, { db, config }) => {
        const ended = await grantService({ ...config, db }).end(ids, null)
        return { fact: { ended }, words: `${ended.length} of ${ids.length} ended.` }
      }),
  )
}
