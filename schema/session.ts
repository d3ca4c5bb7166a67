import { logSecurityEvent } from '../src/access/audit-log.ts'
import type { SessionView } from '../src/services/accounts/session.ts'
import { keyById } from '../src/values/key-by-id.ts'
import { batchSeen } from './batch.ts'
import { builder } from './builder.ts'
import { mutation } from './mutation.ts'
import { findable, Node } from './node.ts'
import { Viewer, viewerField } from './viewer.ts'

const Session = builder.objectRef<SessionView>('Session').implement({
  description: 'A browser or program in which the caller is signed in. Its id is not a credential.',
  interfaces: [Node],
  fields: t => ({
    device: t.exposeString('device', {
      description: 'What the client calls itself, such as "Firefox on Linux".',
    }),
    address: t.exposeString('address', {
      description:
        'The network of the sign-in: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      description: 'When it was last used, exact to five minutes.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it expires. Use does not extend it.',
    }),
    current: t.exposeBoolean('current', {
      description: 'Whether it is the session of this request.',
    }),
  }),
})

builder.objectFields(Viewer, t => ({
  sessions: t.withAuth({ session: true }).field({
    type: [Session],
    nullable: true,
    description: 'The active sessions of the caller, most recently used first. For a session only.',
    resolve: (_viewer, _args, { services, caller }) => services.sessions.list(caller),
  }),
  signInNotices: t.withAuth({ session: true }).boolean({
    nullable: true,
    description:
      'Whether the caller gets a mail about a sign-in on a new device. For a session only.',
    resolve: (_viewer, _args, { services, caller }) => services.sessions.wantsNotices(caller),
  }),
}))

const sessions = batchSeen(async (services, caller) =>
  keyById(await services.sessions.list(caller)),
)

findable('session', 'Session', async (context, caller, id) =>
  caller.via === 'session' ? sessions(context, id) : null,
)

mutation('endSession', {
  description: 'Ends a session of the caller. Its next request is refused.',
  auth: { session: true },
  goesOn: 'stops a stolen session',
  fails: ['SESSION_NOT_FOUND'],
  input: t => ({ session: t.id({ required: true, description: 'Its id.' }) }),
  resolve: async ({ session }, context) => {
    await context.services.sessions.endOne(context.caller, session)
    logSecurityEvent(context, 'session_ended', { session_id: session })
    return { endedId: session }
  },
  payload: t => ({
    endedId: t.exposeID('endedId', { description: 'The id of the session.' }),
    viewer: viewerField(t),
  }),
})

mutation('endOtherSessions', {
  description: 'Ends every session of the caller except the one of this request.',
  auth: { session: true },
  goesOn: 'stops a stolen session',
  fails: [],
  resolve: async (_input, context) => {
    const count = await context.services.sessions.endOthers(context.caller)
    logSecurityEvent(context, 'other_sessions_ended', { sessions: count })
    return { count }
  },
  payload: t => ({
    count: t.exposeInt('count', { description: 'How many were ended.' }),
    viewer: viewerField(t),
  }),
})

mutation('setSignInNotices', {
  description:
    'Sets whether the caller gets a mail about a sign-in on a new device. Off by default.',
  auth: { session: true },
  fails: [],
  input: t => ({ enabled: t.boolean({ required: true, description: 'The new setting.' }) }),
  resolve: async ({ enabled }, { services, caller }) => {
    await services.sessions.setNotices(caller, enabled)
    return {}
  },
  payload: t => ({ viewer: viewerField(t) }),
})
