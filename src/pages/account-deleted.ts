import type { MessageView } from './views.ts'
import { type Page, page, type Visit } from './visit.ts'

/**
 * `/account-deleted`: what happened after someone has deleted their account. The address says until
 * when their files are kept. Nobody is signed in any more, so it is all that the page knows.
 */
export async function accountDeletedPage({
  query,
  words: { say, momentOf },
}: Visit): Promise<Page> {
  const until = Date.parse(query.get('kept') ?? '')
  const isKept = Number.isFinite(until)
  const data: MessageView = {
    icon: 'check',
    heading: say('accountDeleted'),
    sentence: say(isKept ? 'accountFilesKept' : 'accountFilesDeleted'),
    at: isKept ? momentOf(until) : null,
    actions: [{ label: say('home'), href: '/' }],
    small: say('accountEnded'),
  }
  return page('message', data, { title: data.heading, caller: null })
}
