import { useLocation, useRouter } from '@tanstack/react-router'
import { hrefOf, idInShare, nameOf, type Place, parentOf } from '../drive/place.ts'
import {
  Clock,
  FolderPlus,
  History,
  Keyboard,
  KeyRound,
  type LucideIcon,
  Search,
  ShieldCheck,
  Upload,
  UsersRound,
} from '../parts/icons.ts'
import { personName } from '../parts/person-name.ts'
import { type Hit, hrefOfHit, isOnPage, namesAbove, typeOf } from '../search/hit.ts'
import { useAccountEntries } from '../shell/account-entries.ts'
import { useDestinations } from '../shell/destinations.ts'
import type { Me } from '../shell/me.ts'
import { type Offer, readOffers, runOffer } from '../shell/offers.ts'
import { shortcuts } from '../shell/shortcuts.tsx'
import type { Workspace } from './find.ts'
import { readRecent } from './recent.ts'
import { text } from './text.ts'

/** An item of the palette. */
export interface Item {
  id: string
  label: string
  /** The location, shown beside the label. */
  detail?: string
  icon?: LucideIcon
  /** For search results, instead of an icon: the media type of a file, null for a folder. */
  contentType?: string | null
  keys?: string
  danger?: boolean
  /** Further words that find the item. */
  words?: string
  run: () => void
}

export interface Group {
  id: string
  title: string
  items: readonly Item[]
}

const words: Record<string, string> = {
  share: text('wordsShare'),
  light: text('wordsTheme'),
  dark: text('wordsTheme'),
  system: text('wordsTheme'),
  language: text('wordsLanguage'),
  connect: text('wordsConnect'),
  developers: text('wordsDevelopers'),
  out: text('wordsOut'),
}

const itemOf = (offer: Offer): Item => ({ ...offer, words: words[offer.id] })

/** All destinations and commands that need no search. */
export function useGroups(me: Me, workspaces: readonly Workspace[]): Group[] {
  const { navigate } = useRouter()
  const { pathname } = useLocation()
  const go = (href: string) => void navigate({ href })
  const account = useAccountEntries().filter(entry => entry !== 'separator')
  const destinations = useDestinations()

  const screen = (href: string, label: string, icon: LucideIcon): Item => ({
    id: href,
    label,
    icon,
    run: () => go(href),
  })
  /** A command of another screen: goes to that screen and runs it there. */
  const elsewhere = (id: string, label: string, icon: LucideIcon, href: string): Item => ({
    id,
    label,
    icon,
    run() {
      go(href)
      runOffer(id)
    },
  })

  const here = readOffers().map(itemOf)
  const isHere = ({ id }: Item) => here.some(one => one.id === id)
  const commands: Item[] = [
    elsewhere('upload', text('upload'), Upload, '/files'),
    elsewhere('new', text('newFolder'), FolderPlus, '/files'),
    elsewhere('new-workspace', text('newWorkspace'), UsersRound, '/workspaces'),
    elsewhere('new-key', text('newKey'), KeyRound, '/account/keys'),
    {
      id: 'keys',
      label: text('shortcuts'),
      icon: Keyboard,
      keys: '?',
      run: () => shortcuts.set(true),
    },
  ].filter(item => !isHere(item))

  const spaces = workspaces.map(
    ({ id, name, slug }): Item => ({
      id,
      label: name,
      icon: UsersRound,
      run: () => go(hrefOf({ workspace: slug, path: '' })),
    }),
  )
  const recent = readRecent(me.id).flatMap((place): Item[] => {
    const detail = placeName(place, workspaces)
    const href = hrefOf(place)
    if (detail === undefined || href === pathname) return []
    const label = nameOf(place.path) || detail
    return [
      {
        id: `recent ${href}`,
        label,
        detail: place.path ? detail : undefined,
        icon: Clock,
        run: () => go(href),
      },
    ]
  })

  return [
    { id: 'recent', title: text('recent'), items: recent },
    { id: 'here', title: text('here'), items: firstOfEach(here) },
    { id: 'commands', title: text('commands'), items: commands },
    {
      id: 'go',
      title: text('goTo'),
      items: [
        ...destinations.map(({ to, label, icon }) => screen(to, label, icon)),
        screen('/activity', text('activity'), History),
        screen('/account/keys', text('keys'), KeyRound),
        screen('/account/sign-in', text('signIn'), ShieldCheck),
      ],
    },
    { id: 'workspaces', title: text('workspaces'), items: spaces },
    { id: 'looks', title: text('looks'), items: account.map(itemOf).filter(item => !isHere(item)) },
  ]
}

const firstOfEach = (items: readonly Item[]): Item[] =>
  [...new Map(items.toReversed().map(item => [item.id, item])).values()].toReversed()

/**
 * The names of the drive and the parent folder; undefined for a workspace that the person has left.
 */
function placeName(
  { workspace, path }: Place,
  workspaces: readonly Workspace[],
): string | undefined {
  const drive =
    workspace === null ? text('myFiles') : workspaces.find(({ slug }) => slug === workspace)?.name
  const above = parentOf(path)
  return drive && above ? `${drive} / ${above.replaceAll('/', ' / ')}` : drive
}

/** Search results with their locations, followed by a link to all results. */
export function useFoundItems(): (found: readonly Hit[], query: string) => Item[] {
  const { navigate } = useRouter()
  return (found, query) => {
    const items = found.map(hit => ({
      id: hit.id,
      label: hit.name,
      detail:
        namesAbove(hit, text('myFiles')).join(' / ') ||
        (hit.share ? personName(hit.share.sharedBy) : ''),
      contentType: typeOf(hit),
      run() {
        if (hit.share && isOnPage(hit)) return location.assign(hit.share.url)
        const open = hit.share ? idInShare(hit.path) : hit.id
        const search = (hit.__typename === 'File' ? { open, sel: open } : {}) as never
        void navigate({ to: hrefOfHit(hit), search })
      },
    }))
    const run = () => void navigate({ to: '/search', search: { q: query } as never })
    return items.length > 0
      ? [...items, { id: 'all', label: text('all', { query }), icon: Search, run }]
      : items
  }
}

/** Groups, filtered to items that contain all typed words. */
export function fitting(groups: readonly Group[], query: string): Group[] {
  const typed = query.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ label, words = '' }: Item) => {
    const all = `${label} ${words}`.toLocaleLowerCase()
    return typed.every(word => all.includes(word))
  }
  return groups
    .map(group => ({ ...group, items: group.items.filter(fits) }))
    .filter(({ items }) => items.length > 0)
}
