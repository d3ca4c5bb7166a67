import { auditKinds } from '../db/models/event.ts'
import type { AuditRecord as AuditRow } from '../src/services/history/audit-wire.ts'
import { batch } from './batch.ts'
import { builder, signedIn } from './builder.ts'
import { connectionOf, pageArgs } from './connection.ts'
import { EventVia, enumOf } from './enums.ts'
import { EventDetails } from './event.ts'
import { OperatorView, readAccountId } from './operator.ts'
import { forwardConnection, type Sorting } from './paging.ts'
import { personField } from './person.ts'

const AuditKind = enumOf(
  'AuditKind',
  'What happened: the kinds of events in drives, about persons and of the service.',
  auditKinds,
)

const keyNames = batch(({ services }, ids) => services.audits.keyNames(ids))

const AuditRecord = builder.objectRef<AuditRow>('AuditRecord').implement({
  description: 'An entry of the audit trail: an event with its origin. For operators.',
  fields: t => ({
    id: t.id({
      description: 'Made of the log and the number in the log. No other query accepts it.',
      resolve: ({ logId, seq }) => `${logId}:${seq}`,
    }),
    happenedAt: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    kind: t.expose('kind', { type: AuditKind, description: 'What happened.' }),
    via: t.expose('via', { type: EventVia, description: 'The means.' }),
    actor: personField(
      t,
      'Who did it; null for an operator, for the service, or if the account is gone.',
      r => r.actorId,
    ),
    actorId: t.exposeID('actorId', {
      nullable: true,
      description: 'The id of the person who did it, even if the account is gone.',
    }),
    operator: personField(
      t,
      'The operator who did it; null for the command line of the service.',
      r => r.operatorId,
    ),
    credentialId: t.exposeID('viaId', {
      nullable: true,
      description: 'The id of the session, key or file request.',
    }),
    credentialName: t.string({
      nullable: true,
      description: 'The name of the key, while there is one.',
      resolve: async ({ via, viaId }, _args, context) =>
        (via === 'key' || via === 'webdav') && viaId
          ? ((await keyNames(context, viaId)) ?? null)
          : null,
    }),
    concerned: personField(
      t,
      'The person whose account it concerns; null for an event in a drive or of the service, or if the account is gone.',
      r => r.logId,
    ),
    subjectId: t.exposeID('subjectId', {
      nullable: true,
      description: 'The id of the subject.',
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'The address of the client, as the setting LOG_ADDRESSES shows it.',
    }),
    agent: t.exposeString('agent', {
      nullable: true,
      description: 'What the client calls itself.',
    }),
    details: t.expose('details', { type: EventDetails, description: 'Its details.' }),
  }),
})

const AuditFilter = builder.inputType('AuditFilter', {
  description: 'A filter of the audit trail. Omitted fields match everything.',
  fields: t => ({
    person: t.id({
      description: 'Who did it, as themselves or as an operator: the id of a person or an account.',
    }),
    about: t.id({
      description:
        'The subject: the id of a person, an account, a workspace, a drive, a file or a folder.',
    }),
    kinds: t.field({ type: [AuditKind], maxItems: 100, description: 'What happened.' }),
    credential: t.id({
      description: 'The credential that was used: the id of a session, key, link or file request.',
    }),
    address: t.string({ description: 'The address of the client, as the audit trail stores it.' }),
    since: t.field({ type: 'DateTime', description: 'From this time on.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
  }),
})

const order: Sorting<AuditRow, ['number', 'id', 'number']> = {
  types: ['number', 'id', 'number'],
  keyOf: ({ at, logId, seq }) => [at, logId, seq],
}

const idOf = (given: string | null | undefined) => (given ? readAccountId(given) || given : null)

builder.objectField(OperatorView, 'auditTrail', t =>
  t.field({
    type: connectionOf('AuditRecord', AuditRecord),
    description:
      'Who has done what, when and from where, newest first. Reading a page is itself recorded in the trail.',
    args: {
      filter: t.arg({ type: AuditFilter, description: 'The filter.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_view, { filter, ...page }, context) => {
      const {
        person,
        about,
        kinds,
        credential = null,
        address = null,
        since = null,
        until = null,
      } = filter ?? {}
      const wanted = {
        personId: idOf(person),
        aboutId: idOf(about),
        kinds: kinds ?? [],
        credentialId: credential,
        address,
        since,
        until,
      }
      return forwardConnection(page, order, (limit, after) =>
        context.services.audits.page(wanted, signedIn(context), limit, after),
      )
    },
  }),
)
