import type { Services } from '../services/index.ts'
import type { Action, MessageView } from './views.ts'
import { type Page, page, type Reply, type Visit } from './visit.ts'

/**
 * `/unsubscribe/{token}`: unsubscribes the email address of the link from mails caused by other
 * people. It needs no account. A GET changes nothing, because programs follow links in mails. Mail
 * programs submit the same form by themselves (RFC 8058).
 */
export function unsubscribePages({ mailings }: Services) {
  const answer = (stopped: boolean, { here, words: { say } }: Visit): Page => {
    const action: Action = stopped
      ? { label: say('sendAgain'), href: `${here}/resume`, post: true }
      : { label: say('stopMails'), href: here, post: true }
    const data: MessageView = {
      icon: stopped ? 'check' : 'person',
      heading: say(stopped ? 'noMoreMails' : 'mailsFrom'),
      sentence: say(stopped ? 'mailsStopped' : 'mailsSent'),
      at: null,
      actions: [action],
      small: say('ownMails'),
    }
    return page('message', data, { title: data.heading, caller: null })
  }

  return {
    show: async (visit: Visit): Promise<Reply> =>
      answer(await mailings.isStopped(visit.token), visit),

    /** The body is ignored: neither of its two possible formats adds anything to the URL. */
    async stop(visit: Visit): Promise<Reply> {
      await mailings.setStopped(visit.token, true)
      return answer(true, visit)
    },

    async resume(visit: Visit): Promise<Reply> {
      await mailings.setStopped(visit.token, false)
      return answer(false, visit)
    },
  }
}
