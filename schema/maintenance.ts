import { logSecurityEvent } from '../src/access/audit-log.ts'
import type { MaintenanceView } from '../src/services/maintenance.ts'
import { MAX_MAINTENANCE_MESSAGE } from '../src/values/limits.ts'
import { builder } from './builder.ts'
import { mutation } from './mutation.ts'

const Maintenance = builder.objectRef<MaintenanceView>('Maintenance').implement({
  description: 'A maintenance, during which reads go on, and changes are refused with MAINTENANCE.',
  fields: t => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    endsAt: t.expose('endsAt', {
      type: 'DateTime',
      description: 'When it ends by itself, unless it is ended before.',
    }),
    message: t.exposeString('message', {
      description: 'What the operator says about it; may be empty.',
    }),
  }),
})

builder.queryField('maintenance', t =>
  t.withAuth({ public: true }).field({
    type: Maintenance,
    nullable: true,
    description: 'The maintenance that is in force; null while there is none.',
    resolve: (_root, _args, { services }) => services.maintenance.current(),
  }),
)

mutation('startMaintenance', {
  description:
    'Refuses changes until a time, or until another time or with another message than before. Reading goes on, and so do sign-ins to existing accounts, and the mutations that say so. All processes of the service know it within two seconds; what has begun before may finish. For operators.',
  goesOn: 'changes the maintenance itself',
  auth: { operator: true },
  fails: ['INVALID_INPUT'],
  input: t => ({
    until: t.field({
      type: 'DateTime',
      required: true,
      description: 'When it ends, within a year.',
    }),
    message: t.string({
      description: `What everybody is told besides; up to ${MAX_MAINTENANCE_MESSAGE} characters.`,
    }),
  }),
  resolve: async ({ until, message }, context) => {
    const maintenance = await context.services.maintenance.start(
      { endsAt: until, message },
      context.caller,
    )
    logSecurityEvent(context, 'maintenance_started', {
      until: new Date(maintenance.endsAt).toISOString(),
    })
    return { maintenance }
  },
  payload: t => ({
    maintenance: t.expose('maintenance', { type: Maintenance, description: 'The maintenance.' }),
  }),
})

mutation('endMaintenance', {
  description: 'Accepts changes again; idempotent. For operators.',
  goesOn: 'changes the maintenance itself',
  auth: { operator: true },
  fails: [],
  resolve: async (_input, context) => {
    const ended = await context.services.maintenance.end(context.caller)
    if (ended) logSecurityEvent(context, 'maintenance_ended')
    return { ended }
  },
  payload: t => ({ ended: t.exposeBoolean('ended', { description: 'Whether there was one.' }) }),
})
