import type { Caller } from '../src/access/caller.ts'
import { Drive as DriveValue } from '../src/access/drive.ts'
import { mayUsePrivateFiles } from '../src/access/scopes.ts'
import { Unauthenticated } from '../src/runtime/errors.ts'
import type { UserStats } from '../src/services/accounts/statistic.ts'
import type { UserView } from '../src/services/accounts/user.ts'
import { batch, batchSeen } from './batch.ts'
import { builder, type ObjectFields } from './builder.ts'
import type { Context } from './context.ts'
import { findable, Node } from './node.ts'
import { Person } from './person.ts'
import { LimitsType, Plan } from './plan.ts'
import { Drive } from './refs.ts'

const DailyCount = builder.objectRef<UserStats['dailyUploads'][number]>('DailyCount').implement({
  description: 'A count for one day.',
  fields: t => ({
    day: t.exposeString('day', { description: 'A date in UTC, such as 2026-01-31.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
})

const DAYS = 7

const Statistics = builder.objectRef<UserStats>('Statistics').implement({
  description: "Statistics of the caller's files and shares. Days are in UTC.",
  fields: t => ({
    totalFiles: t.exposeInt('totalFiles', { description: "Files in the caller's own drive." }),
    totalBytes: t.expose('totalBytes', { type: 'Bytes', description: 'Their bytes.' }),
    filesToday: t.exposeInt('filesToday', { description: 'Files created today.' }),
    filesLast7d: t.exposeInt('filesLast7d', { description: 'Files created in the last 7 days.' }),
    filesLast30d: t.exposeInt('filesLast30d', {
      description: 'Files created in the last 30 days.',
    }),
    totalSharesSent: t.exposeInt('totalSharesSent', {
      description: 'All shares made, ended ones included.',
    }),
    sharesToday: t.exposeInt('sharesToday', { description: 'Shares created today.' }),
    targetedShares: t.exposeInt('targetedShares', {
      description: 'Shares made for one e-mail address.',
    }),
    publicShares: t.exposeInt('publicShares', {
      description: 'Shares made for everyone with the link.',
    }),
    activeShares: t.exposeInt('activeShares', { description: 'Active shares.' }),
    totalReceived: t.exposeInt('totalReceived', {
      description: 'All shares received, ended ones included.',
    }),
    ownedWorkspaces: t.exposeInt('ownedWorkspaces', {
      description: "Workspaces limited by the caller's plan.",
    }),
    workspaceApiKeys: t.exposeInt('workspaceApiKeys', {
      description: 'Workspace keys created by the caller.',
    }),
    dailyUploads: t.expose('dailyUploads', {
      type: [DailyCount],
      description: 'Files created on each of the last 7 days, oldest first.',
      listSize: DAYS,
    }),
    dailyShares: t.expose('dailyShares', {
      type: [DailyCount],
      description: 'Shares created on each of the last 7 days, oldest first.',
      listSize: DAYS,
    }),
  }),
})

const PREFIX = 'viewer:'

/**
 * The caller. The details of the account are read only if a client asks for them. Most clients ask
 * only for the drive.
 */
interface ViewerNode {
  id: string
  userId: string
}

const viewerOf = ({ userId }: Caller): ViewerNode => ({ id: `${PREFIX}${userId}`, userId })

const accounts = batchSeen(async ({ users }, caller, ids) => {
  const account = await users.read(caller)
  return new Map(account ? ids.map(id => [id, account]) : [])
})

const plans = batch(({ services }, ids) => services.operators.plansOf(ids))

async function accountOf(context: Context, { userId }: ViewerNode): Promise<UserView> {
  const account = await accounts(context, userId)
  if (!account) throw new Unauthenticated()
  return account
}

export const Viewer = builder.objectRef<ViewerNode>('Viewer').implement({
  description: 'The account of the caller.',
  interfaces: [Node],
  fields: t => {
    const text = (
      of: 'email' | 'name' | 'givenName' | 'familyName' | 'locale',
      description: string,
    ) =>
      t.string({
        description,
        resolve: async (viewer, _args, context) => (await accountOf(context, viewer))[of],
      })
    return {
      person: t.field({
        type: Person,
        description: 'The public details of the caller.',
        resolve: (viewer, _args, context) => accountOf(context, viewer),
      }),
      email: text('email', 'The e-mail address.'),
      emailVerified: t.boolean({
        description: 'Whether a provider vouches for the address.',
        resolve: async (viewer, _args, context) => (await accountOf(context, viewer)).emailVerified,
      }),
      name: text('name', 'The name.'),
      givenName: text('givenName', 'The given name; empty if no provider states it.'),
      familyName: text('familyName', 'The family name; empty if no provider states it.'),
      picture: t.field({
        type: 'URL',
        nullable: true,
        description: 'A picture.',
        resolve: async (viewer, _args, context) =>
          (await accountOf(context, viewer)).picture || null,
      }),
      locale: text('locale', 'The language, such as de-CH; empty if no provider states it.'),
      createdAt: t.field({
        type: 'DateTime',
        description: 'When the account was created.',
        resolve: async (viewer, _args, context) => (await accountOf(context, viewer)).createdAt,
      }),
      plan: t.field({
        type: Plan,
        description: 'The plan of the account. `limits` shows the current limits.',
        resolve: async (viewer, _args, context) => {
          const plan = await plans(context, (await accountOf(context, viewer)).plan.id)
          if (!plan) throw new Unauthenticated()
          return plan
        },
      }),
      limits: t.field({
        type: LimitsType,
        description: 'The limits of the account, and of the workspaces that it owns.',
        resolve: async (viewer, _args, context) => (await accountOf(context, viewer)).limits,
      }),
      drive: t.withAuth({ privateFiles: 'read' }).field({
        type: Drive,
        description: 'The drive of the caller.',
        resolve: (_viewer, _args, { caller }) => DriveValue.own(caller),
      }),
      statistics: t.withAuth({ privateFiles: 'read' }).field({
        type: Statistics,
        description: "Statistics of the caller's files and shares.",
        resolve: (_viewer, _args, { services, caller }) => services.statistics.read(caller),
      }),
      note: t.withAuth({ privateFiles: 'read' }).string({
        nullable: true,
        description:
          "The caller's note on a content of one of their files; empty if there is none.",
        args: { md5: t.arg.string({ required: true, description: 'MD5 of the content, in hex.' }) },
        resolve: (_viewer, { md5 }, { services, caller }) => services.notes.read(caller, md5),
      }),
    }
  },
})

findable(PREFIX, 'Viewer', async (_context, caller, id) => {
  if (id !== caller.userId || caller.workspaceId !== null) return null
  mayUsePrivateFiles(caller, 'read')
  return viewerOf(caller)
})

/** The payload field with the caller's current account. */
export const viewerField = <Payload extends object>(t: ObjectFields<Payload>) =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Viewer,
    nullable: true,
    description: 'The account of the caller as it is now.',
    resolve: (_payload, _args, { caller }) => viewerOf(caller),
  })

builder.queryField('me', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: Viewer,
    description: 'The account of the caller. Not for keys of workspaces.',
    resolve: (_root, _args, { caller }) => viewerOf(caller),
  }),
)
