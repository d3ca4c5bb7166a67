import { logSecurityEvent } from '../src/access/audit-log.ts'
import type { GrantView } from '../src/services/sharing/grant.ts'
import { grantKinds, sharingRules } from '../src/values/grant.ts'
import { MAX_CHANGED } from '../src/values/limits.ts'
import { builder, signedIn } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import { enumOf } from './enums.ts'
import { mutation } from './mutation.ts'
import { OperatorView, readAccountId } from './operator.ts'
import { byId, forwardConnection } from './paging.ts'
import { personField } from './person.ts'

const GrantKind = enumOf(
  'GrantKind',
  'How others reach files: by a link, as one e-mail address (DIRECT), or by sending files (REQUEST).',
  grantKinds,
)

const SharingRule = enumOf(
  'SharingRule',
  'The rules that the settings make for what is shared: DURATION (SHARE_MAX_DURATION), PASSWORD (SHARE_PASSWORD) and OUTSIDE (SHARE_OUTSIDE, SHARE_DOMAINS).',
  sharingRules,
)

const Grant = builder.objectRef<GrantView>('Grant').implement({
  description:
    'A link, a share or a file request of a person, as operators see it: its terms, but neither its link nor its contents.',
  fields: t => ({
    id: t.exposeID('id', {
      description:
        'The id of the share or the file request. Of operators, only operatorEndGrants accepts it.',
    }),
    kind: t.expose('kind', { type: GrantKind, description: 'How others reach the files.' }),
    sharer: personField(t, 'Who shares; null if the account is gone.', ({ userId }) => userId),
    recipient: t.exposeString('recipient', {
      nullable: true,
      description: 'The e-mail address that it is for; null for links and requests.',
    }),
    name: t.exposeString('name', {
      description: 'The name of what is shared, without its folders; the title of a request.',
    }),
    isFolder: t.exposeBoolean('isFolder', {
      description: 'Whether it is a folder, or several entries.',
    }),
    workspaceId: t.exposeID('workspaceId', {
      nullable: true,
      description: 'The id of the workspace that owns the files; null for files of the sharer.',
    }),
    workspaceName: t.exposeString('workspaceName', {
      nullable: true,
      description: 'The name of that workspace.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null if never.',
    }),
    passwordProtected: t.exposeBoolean('hasPassword', {
      description: 'Whether it has a password.',
    }),
    mayEdit: t.exposeBoolean('mayEdit', { description: 'Whether its recipient may edit.' }),
    useCount: t.exposeInt('uses', {
      description: 'How often it was downloaded; how many files a request received.',
    }),
    maxUses: t.exposeInt('maxUses', {
      nullable: true,
      description: 'The maximum of these uses; null without a maximum.',
    }),
    brokenRules: t.expose('brokenRules', {
      type: [SharingRule],
      listSize: sharingRules.length,
      description:
        'The rules that it breaks, because it is older than they are. It cannot be renewed as it is.',
    }),
    isPaused: t.exposeBoolean('isPaused', {
      description: 'Whether it does not work now, because its sharer is suspended.',
    }),
  }),
})

const GrantFilter = builder.inputType('GrantFilter', {
  description: 'A filter of grants. Omitted fields match everything.',
  fields: t => ({
    person: t.id({ description: 'Who shares: the id of a person or an account.' }),
    workspace: t.id({ description: 'Whose files: the id of a workspace.' }),
    kinds: t.field({ type: [GrantKind], maxItems: 3, description: 'Only these kinds.' }),
    neverExpires: t.boolean({ description: 'Only those that never end by themselves.' }),
    withoutPassword: t.boolean({ description: 'Only those without a password.' }),
    breaksRules: t.boolean({ description: 'Only those that break a rule of the settings.' }),
  }),
})

builder.objectField(OperatorView, 'grants', t =>
  t.field({
    type: connectionOf('Grant', Grant),
    description:
      'The links, shares and file requests of all people that have not ended, newest first. Reading a page is recorded in the audit trail.',
    args: {
      filter: t.arg({ type: GrantFilter, description: 'The filter.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_view, { filter, ...page }, context) => {
      const {
        person,
        workspace = null,
        kinds,
        neverExpires,
        withoutPassword,
        breaksRules,
      } = filter ?? {}
      const wanted = {
        userId: person ? readAccountId(person) || person : null,
        workspaceId: workspace,
        kinds: kinds ?? [],
        neverExpires: neverExpires ?? false,
        noPassword: withoutPassword ?? false,
        breaksRules: breaksRules ?? false,
      }
      return forwardConnection(page, byId, (limit, after) =>
        context.services.grants.page(wanted, signedIn(context), limit, after?.[0] ?? null),
      )
    },
  }),
)

mutation('operatorEndGrants', {
  description:
    'Ends links, shares and file requests of any people permanently. Skips those that have ended. The people concerned see each end in their activity. For operators.',
  auth: { operator: true },
  goesOn: 'stops links that others may have',
  fails: [],
  input: t => ({
    grants: t.idList({
      required: true,
      maxItems: MAX_CHANGED,
      description: 'The ids of the grants.',
    }),
  }),
  resolve: async ({ grants }, context) => {
    const endedIds = await context.services.grants.end(grants, context.caller)
    if (endedIds.length > 0) logSecurityEvent(context, 'grants_ended', { count: endedIds.length })
    return { endedIds }
  },
  payload: t => ({
    endedIds: t.exposeIDList('endedIds', {
      description: 'The ids of the grants that ended now.',
      listSize: MAX_CHANGED,
      sizedBy: 'input.grants',
    }),
  }),
})
