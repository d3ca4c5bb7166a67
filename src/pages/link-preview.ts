import type { SharePage } from '../services/sharing/share-info.ts'
import { oneLine } from '../values/one-line.ts'
import type { Frame } from './views.ts'
import type { Words } from './words.ts'

/** The heading of a share for those who may see it. */
export const titleOf = ({ title, fileName }: SharePage, { nameOf }: Words): string =>
  title || nameOf(fileName)

/** The lines of a message of the sharer. */
export const paragraphsOf = (message: string): string[] =>
  message.split('\n').flatMap(line => oneLine(line) || [])

/**
 * The Open Graph properties of a share, from which messengers make link previews. Messengers cache
 * and show them to everyone, so a share that needs a password or a sign-in never names what it
 * contains, even for a visitor who has already entered the password.
 *
 * @param title undefined for a file within a share, which has no link preview
 */
export function linkPreview(look: SharePage, words: Words, title?: string): Frame['og'] {
  if (title === undefined) return []
  const { say, service } = words
  const name = oneLine(look.sharedBy?.name ?? '')
  const isOpen = look.isPublic && !look.passwordProtected
  const hidden = name ? say('sharedBySomeone', { name }) : service
  const summary = say('ogSummary', {
    count: look.fileCount,
    size: words.sizeOf(look.size).text,
  })
  const closed = say(look.passwordProtected ? 'ogProtected' : 'ogPrivate')
  return [
    ['og:site_name', service],
    ['og:type', 'website'],
    ['og:title', isOpen ? titleOf(look, words) : look.isPublic ? hidden : service],
    ['og:description', !isOpen ? closed : name ? `${hidden}: ${summary}` : summary],
  ]
}
