import { logSecurityEvent } from '../../src/access/audit-log.ts'
import type { SessionView } from '../../src/services/accounts/session.ts'
import { objectOf } from './builder.ts'
import { operation } from './user.ts'

const Session = objectOf<SessionView>(
  'Session',
  'A browser or program that the caller has signed in with.',
  t => ({
    address: t.exposeString('address', {
      description:
        'The network in which it was started: an IPv4 address as its /24, an IPv6 address as its /48.',
      example: '203.0.113.0/24',
    }),
    created_at: t.expose('createdAt', { type: 'DateTime' }),
    current: t.exposeBoolean('current', {
      description: 'Whether it is the session of this request.',
    }),
    device: t.exposeString('device', {
      description: 'The name of the client, such as "Firefox on Linux".',
      example: 'Firefox on Linux',
    }),
    expires_at: t.expose('expiresAt', { type: 'DateTime' }),
    id: t.exposeID('id', {
      description: 'Identifies the session in this list; it is not a credential.',
    }),
    last_used_at: t.expose('lastUsedAt', {
      type: 'DateTime',
      description: 'Accurate to five minutes.',
    }),
  }),
)

const SessionList = objectOf<{ sessions: SessionView[]; signInNotices: boolean }>(
  'SessionList',
  t => ({
    sessions: t.expose('sessions', { type: [Session] }),
    sign_in_notices: t.exposeBoolean('signInNotices', {
      description: 'Whether the caller gets a mail about a sign-in from a new device.',
    }),
  }),
)

operation('GET /api/user/sessions', 'sessions', {
  description: 'The active sessions of the caller, most recently used first.',
  auth: { session: true },
  statuses: [401],
  type: SessionList,
  resolve: async (_args, { services, caller }) => {
    const [sessions, signInNotices] = await Promise.all([
      services.sessions.list(caller),
      services.sessions.wantsNotices(caller),
    ])
    return { sessions, signInNotices }
  },
})

const EndedSessions = objectOf<{ sessionsEnded: number }>('EndedSessions', t => ({
  sessions_ended: t.exposeInt('sessionsEnded', { description: 'How many.' }),
}))

operation('DELETE /api/user/sessions/others', 'endOtherSessions', {
  description: 'Ends every session of the caller except the one of this request.',
  goesOn: 'stops a stolen session',
  auth: { session: true },
  statuses: [401],
  type: EndedSessions,
  resolve: async (_args, context) => {
    const sessionsEnded = await context.services.sessions.endOthers(context.caller)
    logSecurityEvent(context, 'other_sessions_ended', { sessions: sessionsEnded })
    return { sessionsEnded }
  },
})

const EndedSession = objectOf<{ sessionId: string }>('EndedSession', t => ({
  session_id: t.exposeID('sessionId'),
}))

operation('DELETE /api/user/sessions', 'endSession', {
  description: 'Ends a session of the caller; its next request is refused.',
  goesOn: 'stops a stolen session',
  auth: { session: true },
  statuses: [400, 401, 404],
  fails: ['SESSION_NOT_FOUND'],
  args: arg => ({
    session_id: arg.id({ required: true, description: 'The id of a session in the list.' }),
  }),
  type: EndedSession,
  resolve: async ({ session_id: sessionId }, context) => {
    await context.services.sessions.endOne(context.caller, sessionId)
    logSecurityEvent(context, 'session_ended', { session_id: sessionId })
    return { sessionId }
  },
})

const SignInNotices = objectOf<{ signInNotices: boolean }>('SignInNotices', t => ({
  sign_in_notices: t.exposeBoolean('signInNotices'),
}))

operation('PUT /api/user/sign_in_notices', 'setSignInNotices', {
  description:
    'Sets whether the caller gets a mail about a sign-in from a new device; off by default.',
  auth: { session: true },
  statuses: [400, 401],
  args: arg => ({
    enabled: arg.boolean({ required: true }),
  }),
  type: SignInNotices,
  resolve: async ({ enabled }, { services, caller }) => {
    await services.sessions.setNotices(caller, enabled)
    return { signInNotices: enabled }
  },
})
