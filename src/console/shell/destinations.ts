import {
  FileImage,
  FileUp,
  FolderClosed,
  House,
  Inbox,
  Link2,
  type LucideIcon,
  Search,
  ShieldCheck,
  Trash2,
  UsersRound,
} from '../parts/icons.ts'
import { type Me, useIsOperator } from './me.ts'
import { text } from './text.ts'

export interface Destination {
  to: string
  label: string
  /** A short label for the bottom bar, which has a fifth of the screen width per item. */
  short: string
  icon: LucideIcon
  /** Badge with the number of new items. */
  badge?: (me: Me) => number
  /** Whether the bottom bar shows it. The others are under "More". */
  foot?: true
  /** Only in the bottom bar, because elsewhere the search field is visible. */
  footOnly?: true
  /** For operators only. */
  operators?: true
}

const destinations: Destination[] = [
  { to: '/start', label: text('home'), short: text('home'), icon: House, foot: true },
  { to: '/files', label: text('files'), short: text('filesShort'), icon: FolderClosed, foot: true },
  {
    to: '/search',
    label: text('search'),
    short: text('search'),
    icon: Search,
    foot: true,
    footOnly: true,
  },
  { to: '/pictures', label: text('pictures'), short: text('pictures'), icon: FileImage },
  {
    to: '/shared',
    label: text('shared'),
    short: text('sharedShort'),
    icon: Inbox,
    foot: true,
    badge: me => me.unseenShareCount,
  },
  { to: '/links', label: text('links'), short: text('linksShort'), icon: Link2 },
  { to: '/requests', label: text('requests'), short: text('requests'), icon: FileUp },
  {
    to: '/workspaces',
    label: text('workspaces'),
    short: text('workspacesShort'),
    icon: UsersRound,
    badge: me => me.invites?.nodes.length ?? 0,
  },
  { to: '/trash', label: text('trash'), short: text('trash'), icon: Trash2 },
  {
    to: '/admin',
    label: text('admin'),
    short: text('adminShort'),
    icon: ShieldCheck,
    operators: true,
  },
]

/** The navigation items for this person, in order. */
export function useDestinations(): Destination[] {
  const isOperator = useIsOperator()
  return destinations.filter(({ operators }) => !operators || isOperator)
}
