import { logSecurityEvent } from '../src/access/audit-log.ts'
import type { MaintenanceView } from '../src/services/maintenance.ts'
import { MAX_MAINTENANCE_MESSAGE } from '../src/values/limits.ts'
import { builder } from './builder.ts'
import { mutation } from './mutation.ts'

const Maintenance = builder.objectRef<MaintenanceView>('Maintenance').implement({
  description: 'A maintenance: reading continues, and changes are refused with MAINTENANCE.',
  fields: t => ({
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    endsAt: t.expose('endsAt', {
      type: 'DateTime',
      description: 'When it ends automatically, unless it is ended earlier.',
    }),
    message: t.exposeString('message', {
      description: 'The message of the operator; may be empty.',
    }),
  }),
})

builder.queryField('maintenance', t =>
  t.withAuth({ public: true }).field({
    type: Maintenance,
    nullable: true,
    description: 'The current maintenance; null if there is none.',
    resolve: (_root, _args, { services }) => services.maintenance.current(),
  }),
)

mutation('operatorStartMaintenance', {
  description:
    'Refuses changes until the given time. During a maintenance, changes its end and its message. Reading, sign-ins to existing accounts, and the mutations marked as allowed still work. All processes of the service notice it within two seconds. Operations that have already begun may finish. For operators.',
  goesOn: 'changes the maintenance itself',
  auth: { operator: true },
  fails: ['INVALID_INPUT'],
  input: t => ({
    until: t.field({
      type: 'DateTime',
      required: true,
      description: 'When it ends; at most a year from now.',
    }),
    message: t.string({
      description: `A message to everyone, up to ${MAX_MAINTENANCE_MESSAGE} characters.`,
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

mutation('operatorEndMaintenance', {
  description:
    'Ends the maintenance, so that changes are accepted again; idempotent. For operators.',
  goesOn: 'changes the maintenance itself',
  auth: { operator: true },
  fails: [],
  resolve: async (_input, context) => {
    const ended = await context.services.maintenance.end(context.caller)
    if (ended) logSecurityEvent(context, 'maintenance_ended')
    return { ended }
  },
  payload: t => ({
    ended: t.exposeBoolean('ended', { description: 'Whether there was a maintenance.' }),
  }),
})
