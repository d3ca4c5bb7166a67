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
  /** For the foot of a small screen, where it has a fifth of the width. */
  short: string
  icon: LucideIcon
  /** Shown beside it: how much is new there. */
  badge?: (me: Me) => number
  /** Whether the foot of a small screen shows it; the others are behind "More" there. */
  foot?: true
  /** Only at the foot: elsewhere the field is in sight. */
  footOnly?: true
  /** For operators of the service only. */
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

/** What the navigation leads to, in its order: what is for this person. */
export function useDestinations(): Destination[] {
  const isOperator = useIsOperator()
  return destinations.filter(({ operators }) => !operators || isOperator)
}
