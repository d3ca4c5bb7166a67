import { logSecurityEvent } from '../src/audit-log.ts'
import type { SessionView } from '../src/services/session.ts'
import { builder } from './builder.ts'
import { User } from './user.ts'

const Session = builder.objectRef<SessionView>('Session').implement({
  description: 'A browser or program in which the caller is signed in.',
  fields: t => ({
    id: t.exposeID('id', { description: 'Names the session here. It opens nothing.' }),
    device: t.exposeString('device', { description: 'What the client calls itself, such as "Firefox on Linux".' }),
    address: t.exposeString('address', {
      description: 'The network from which it was begun: an IPv4 address as its /24, an IPv6 address as its /48.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', description: 'Exact to five minutes.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    current: t.exposeBoolean('current', { description: 'Whether it is the session of this request.' }),
  }),
})

interface SessionListView {
  sessions: SessionView[]
  signInNotices: boolean
}

const SessionList = builder.objectRef<SessionListView>('SessionList').implement({
  fields: t => ({
    sessions: t.expose('sessions', { type: [Session] }),
    signInNotices: t.exposeBoolean('signInNotices', {
      description: 'Whether a sign-in from a new device is announced to the caller by mail.',
    }),
  }),
})

builder.objectFields(User, t => ({
  sessions: t.withAuth({ session: true }).field({
    type: [Session],
    nullable: true,
    restField: false,
    description: 'The sessions of the caller that have not ended, the one used last first. For a session only.',
    resolve: (_user, _args, { services, caller }) => services.sessions.list(caller),
  }),
  signInNotices: t.withAuth({ session: true }).boolean({
    nullable: true,
    restField: false,
    description: 'Whether a sign-in from a new device is announced to the caller by mail. For a session only.',
    resolve: (_user, _args, { services, caller }) => services.sessions.wantsNotices(caller),
  }),
}))

builder.queryField('sessions', t =>
  t.withAuth({ session: true }).field({
    type: SessionList,
    description: 'The sessions of the caller that have not ended, the one used last first.',
    rest: { route: 'GET /api/user/sessions', errors: [401] },
    resolve: async (_root, _args, { services, caller }) => {
      const [sessions, signInNotices] = await Promise.all([
        services.sessions.list(caller),
        services.sessions.wantsNotices(caller),
      ])
      return { sessions, signInNotices }
    },
  }),
)

const EndSessionInput = builder.inputType('EndSessionInput', {
  fields: t => ({ sessionId: t.id({ required: true, description: 'The id of a session in the list.' }) }),
})

const EndedSession = builder.objectRef<{ sessionId: string }>('EndedSession').implement({
  fields: t => ({ sessionId: t.exposeID('sessionId') }),
})

builder.mutationField('endSession', t =>
  t.withAuth({ session: true }).field({
    type: EndedSession,
    description: 'Ends a session of the caller; its next request is refused.',
    rest: { route: 'DELETE /api/user/sessions', errors: [400, 401, 404] },
    args: { input: t.arg({ type: EndSessionInput, required: true }) },
    resolve: async (_root, { input: { sessionId } }, context) => {
      await context.services.sessions.endOne(context.caller, sessionId)
      logSecurityEvent(context, 'session_ended', { session_id: sessionId })
      return { sessionId }
    },
  }),
)

const EndedSessions = builder.objectRef<{ sessionsEnded: number }>('EndedSessions').implement({
  fields: t => ({ sessionsEnded: t.exposeInt('sessionsEnded', { description: 'How many.' }) }),
})

builder.mutationField('endOtherSessions', t =>
  t.withAuth({ session: true }).field({
    type: EndedSessions,
    description: 'Ends every session of the caller but the one of this request.',
    rest: { route: 'DELETE /api/user/sessions/others', errors: [401] },
    resolve: async (_root, _args, context) => {
      const sessionsEnded = await context.services.sessions.endOthers(context.caller)
      logSecurityEvent(context, 'other_sessions_ended', { sessions: sessionsEnded })
      return { sessionsEnded }
    },
  }),
)

const SignInNoticesInput = builder.inputType('SignInNoticesInput', {
  fields: t => ({ enabled: t.boolean({ required: true }) }),
})

const SignInNotices = builder.objectRef<{ signInNotices: boolean }>('SignInNotices').implement({
  fields: t => ({ signInNotices: t.exposeBoolean('signInNotices') }),
})

builder.mutationField('setSignInNotices', t =>
  t.withAuth({ session: true }).field({
    type: SignInNotices,
    description:
      'Says whether a sign-in from a new device is announced to the caller by mail; it is not unless asked for.',
    rest: { route: 'PUT /api/user/sign_in_notices', errors: [400, 401] },
    args: { input: t.arg({ type: SignInNoticesInput, required: true }) },
    resolve: async (_root, { input: { enabled } }, { services, caller }) => {
      await services.sessions.setNotices(caller, enabled)
      return { signInNotices: enabled }
    },
  }),
)
