import { logSecurityEvent } from '../../src/audit-log.ts'
import type { SessionView } from '../../src/services/accounts/session.ts'
import { builder } from './builder.ts'
import { rest } from './user.ts'

const Session = builder.objectRef<SessionView>('Session').implement({
  description: 'A browser or program that the caller has signed in with.',
  fields: t => ({
    address: t.exposeString('address', {
      description: 'The network in which it was started: an IPv4 address as its /24, an IPv6 address as its /48.',
      example: '203.0.113.0/24',
    }),
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    current: t.exposeBoolean('current', { description: 'Whether it is the session of this request.' }),
    device: t.exposeString('device', {
      description: 'The name of the client, such as "Firefox on Linux".',
      example: 'Firefox on Linux',
    }),
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    id: t.exposeID('id', { description: 'Identifies the session in this list; it is not a credential.' }),
    last_used_at: t.expose('lastUsedAt', { type: 'DateTime', description: 'Accurate to five minutes.' }),
  }),
})

const SessionList = builder.objectRef<{ sessions: SessionView[]; signInNotices: boolean }>('SessionList').implement({
  fields: t => ({
    sessions: t.expose('sessions', { type: [Session] }),
    sign_in_notices: t.exposeBoolean('signInNotices', {
      description: 'Whether the caller gets a mail about a sign-in from a new device.',
    }),
  }),
})

builder.queryField('sessions', t =>
  t.withAuth({ session: true }).field({
    type: SessionList,
    description: 'The sessions of the caller that have not ended, the most recently used first.',
    rest: rest({ route: 'GET /api/user/sessions', statuses: [401] }),
    resolve: async (_root, _args, { services, caller }) => {
      const [sessions, signInNotices] = await Promise.all([
        services.sessions.list(caller),
        services.sessions.wantsNotices(caller),
      ])
      return { sessions, signInNotices }
    },
  }),
)

const EndedSessions = builder.objectRef<{ sessionsEnded: number }>('EndedSessions').implement({
  fields: t => ({
    sessions_ended: t.exposeInt('sessionsEnded', { description: 'How many.' }),
  }),
})

builder.mutationField('endOtherSessions', t =>
  t.withAuth({ session: true }).field({
    type: EndedSessions,
    description: 'Ends every session of the caller but the one of this request.',
    rest: rest({ route: 'DELETE /api/user/sessions/others', statuses: [401] }),
    resolve: async (_root, _args, context) => {
      const sessionsEnded = await context.services.sessions.endOthers(context.caller)
      logSecurityEvent(context, 'other_sessions_ended', { sessions: sessionsEnded })
      return { sessionsEnded }
    },
  }),
)

const EndedSession = builder.objectRef<{ sessionId: string }>('EndedSession').implement({
  fields: t => ({
    session_id: t.exposeID('sessionId'),
  }),
})

builder.mutationField('endSession', t =>
  t.withAuth({ session: true }).field({
    type: EndedSession,
    description: 'Ends a session of the caller; its next request is refused.',
    rest: rest({ route: 'DELETE /api/user/sessions', statuses: [400, 401, 404], fails: ['SESSION_NOT_FOUND'] }),
    args: {
      session_id: t.arg.id({ required: true, description: 'The id of a session in the list.' }),
    },
    resolve: async (_root, { session_id: sessionId }, context) => {
      await context.services.sessions.endOne(context.caller, sessionId)
      logSecurityEvent(context, 'session_ended', { session_id: sessionId })
      return { sessionId }
    },
  }),
)

const SignInNotices = builder.objectRef<{ signInNotices: boolean }>('SignInNotices').implement({
  fields: t => ({
    sign_in_notices: t.exposeBoolean('signInNotices'),
  }),
})

builder.mutationField('setSignInNotices', t =>
  t.withAuth({ session: true }).field({
    type: SignInNotices,
    description: 'Sets whether the caller gets a mail about a sign-in from a new device; off by default.',
    rest: rest({ route: 'PUT /api/user/sign_in_notices', statuses: [400, 401] }),
    args: {
      enabled: t.arg.boolean({ required: true }),
    },
    resolve: async (_root, { enabled }, { services, caller }) => {
      await services.sessions.setNotices(caller, enabled)
      return { signInNotices: enabled }
    },
  }),
)
