import { logSecurityEvent } from '../access/audit-log.ts'
import { InvalidInput } from '../runtime/errors.ts'
import type { Services } from '../services/index.ts'
import { oneLine } from '../values/one-line.ts'
import { page, type Reply, readForm, signInAt, type Visit } from './visit.ts'

/** `/sessions`: lists and ends sessions, and sets the mails about new devices. */
export function sessionPages({ sessions }: Services) {
  return {
    async show(visit: Visit): Promise<Reply> {
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(visit.here) }
      const [rows, notices] = await Promise.all([
        sessions.list(caller),
        sessions.wantsNotices(caller),
      ])
      const data = {
        here: visit.here,
        notices,
        // Mails only go to verified email addresses.
        mailable: caller.verifiedEmail !== null,
        rows: rows.map(({ id, device, address, createdAt, lastUsedAt, current }) => ({
          id,
          current,
          device: oneLine(device) || visit.words.say('unknownDevice'),
          address,
          since: visit.words.momentOf(createdAt),
          used: visit.words.momentOf(lastUsedAt),
        })),
      }
      return page('sessions', data, { title: visit.words.say('sessionsTitle'), caller })
    },

    async change(visit: Visit): Promise<Reply> {
      const form = await readForm(visit)
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(visit.here) }
      const by = { log: visit.log, caller }
      const [id, what, notices] = ['session', 'end', 'notices'].map(name => form.get(name))
      if (id) {
        await sessions.endOne(caller, id)
        logSecurityEvent(by, 'session_ended', { session_id: id })
      } else if (what === 'others') {
        logSecurityEvent(by, 'other_sessions_ended', { sessions: await sessions.endOthers(caller) })
      } else if (notices === 'on' || notices === 'off') {
        await sessions.setNotices(caller, notices === 'on')
      } else
        throw new InvalidInput('session', 'The form must name a session, "others", or the notices.')
      return { to: visit.here }
    },
  }
}
