import type { Services } from '../services/index.ts'
import type { Action, MessageView } from './views.ts'
import { type Page, page, type Reply, type Visit } from './visit.ts'

/**
 * `/unsubscribe/{token}`: unsubscribes the email address of the link from mails caused by other
 * people. It needs no account. A GET changes nothing, because programs follow links in mails. Mail
 * programs submit the same form by themselves (RFC 8058).
 */
export function unsubscribePages({ mailings }: Services) {
  const answer = (stopped: boolean, here: string): Page => {
    const action: Action = stopped
      ? { label: 'Send mails again', href: `${here}/resume`, post: true }
      : { label: 'Stop these mails', href: here, post: true }
    const data: MessageView = {
      icon: stopped ? 'check' : 'person',
      heading: stopped ? 'No more mails' : 'Mails from Satchel',
      sentence: stopped
        ? 'This service no longer sends mails about shared files or invites to your address.'
        : 'When people share files with you or invite you, this service can send a mail to your address.',
      at: null,
      actions: [action],
      small: 'Mails about your own account are sent in any case.',
    }
    return page('message', data, { title: data.heading, caller: null })
  }

  return {
    show: async (visit: Visit): Promise<Reply> =>
      answer(await mailings.isStopped(visit.token), visit.here),

    /** The body is ignored: neither of its two possible formats adds anything to the URL. */
    async stop(visit: Visit): Promise<Reply> {
      await mailings.setStopped(visit.token, true)
      return answer(true, visit.here)
    },

    async resume(visit: Visit): Promise<Reply> {
      await mailings.setStopped(visit.token, false)
      return answer(false, visit.here)
    },
  }
}
