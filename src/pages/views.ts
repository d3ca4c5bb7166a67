import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import { satchel } from '../http/icon.ts'
import type { TextKind } from '../renderers/kinds.ts'
import { assets } from './assets.ts'
import type { Moment, Person, ShownFile, Size } from './words.ts'

/** A next step for the visitor: a link, or a form. */
export interface Action {
  label: string
  href: string
  post?: true
}

export interface HomeView {
  plan: string
  used: Size
  max: Size
  percent: number
  /** Whether the quota is used up. */
  full: boolean
  files: string
  received: {
    unseen: number
    more: number
    rows: (ShownFile & { href: string; by: Person; seen: boolean })[]
  }
  invites: {
    more: number
    rows: { href: string; workspace: string; role: string; until: Moment }[]
  }
  workspaces: { more: number; rows: { name: string; role: string; href: string }[] }
  /** URL of the complete lists; null where they are shown. */
  all: string | null
  /** Whether the console is to be served, and is not there. */
  unbuilt: boolean
}

/** A file or a folder in a list; of a folder, the label of its kind says how many files it has. */
export interface LevelEntry extends ShownFile {
  /** Begins at the top, as the service takes it. */
  path: string
  href: string
  changed: Moment
  /** The folder that a search has found it in; null where that is the top. */
  where: { label: string; href: string } | null
  /** URL of the picture that its tile shows; null for an icon. */
  picture: string | null
  /**
   * URL of the bytes of a file, besides that of its page; null for a folder, and where there is
   * none.
   */
  download: string | null
}

/** What is in a folder, page by page. */
export interface LevelView {
  /** The workspace or the shared folder, and the folders down to this one. */
  crumbs: { label: string; href: string }[]
  entries: LevelEntry[]
  next: string | null
}

/** What a list can be sorted by, and how it is sorted by it now. */
export interface SortView {
  name: string
  label: string
  href: string
  now: 'ascending' | 'descending' | null
}

/** The preview of a file. */
export interface PreviewView {
  kind: 'image' | 'pdf' | 'audio' | 'video' | 'archive' | 'text'
  /** What the script makes of a text; null for one that stays as it is. */
  layout: TextKind | null
  src: string
  /** Of the file, in bytes. */
  size: number
  /** Whether a small frame is enough. */
  short: boolean
}

/**
 * How a visitor saves what a page of a share shows in their own drive; what was saved just now,
 * where it is.
 */
export interface SaveView {
  /** URL that the form goes to. */
  action: string
  /** What is said of the place in the query of the page, too. */
  at: Record<string, string>
  saved: string | null
}

export interface ShareView {
  file: ShownFile
  until: Moment | null
  /** URL of the page itself. */
  own: string
  /** URL of the bytes. Null where nothing may be downloaded. */
  download: string | null
  /** Null for visitors who have nowhere to save it. */
  save: SaveView | null
  /** URL of the shared folder that the file is in; null where the file itself is shared. */
  back: string | null
  needs: 'sign-in' | 'password' | null
  sharedBy: Person | null
  preview: PreviewView | null
  /** Why there is no preview, where a visitor might expect one. */
  noPreview: string
  signIn: string
  problem: string
}

export interface SharedFolderView extends LevelView {
  save: SaveView | null
  /** Where the console shows it to who may edit it. */
  edit: string | null
  tiles: boolean
  sorts: SortView[]
  /**
   * The form that searches, with what its address keeps besides; `clear` leads back to the folder.
   */
  search: { action: string; text: string; clear: string; kept: [name: string, value: string][] }
  size: Size
  until: Moment | null
  sharedBy: Person | null
  /**
   * Where the form with the selected entries goes, which are named by their paths, and how many it
   * takes; null where nothing may be downloaded.
   */
  zip: { action: string; folder: string; most: number } | null
}

export interface InviteView {
  here: string
  workspace: string
  role: string
  /** What the role allows. */
  rights: string
  invitedBy: Person
  until: Moment
  signIn: string
}

export interface LoginView {
  goal: string
  next: string
  providers: { label: string; href: string }[]
}

export interface SessionsView {
  here: string
  notices: boolean
  mailable: boolean
  rows: {
    id: string
    current: boolean
    device: string
    address: string
    since: Moment
    used: Moment
  }[]
}

export interface IdentitiesView {
  identities: {
    id: string
    provider: string
    person: Person
    emailVerified: boolean
    since: Moment
  }[]
  add: { label: string; href: string }[]
}

/** An identity that waits to be confirmed; the account is in the frame. */
export interface LinkView {
  provider: string
  person: Person
}

/** A program that asks for a key. */
export interface AuthorizeView {
  /** Where the form goes. */
  action: string
  /** The account that answers: another one may have signed in meanwhile. */
  account: string
  name: string
  clientId: string
  rights: string[]
  lifetimes: { value: string; label: string; chosen: boolean }[]
  /**
   * The address on this computer that the browser leads back to; null for a program with a code.
   */
  redirect: string | null
  device: { userCode: string; network: string; isElsewhere: boolean; since: Moment } | null
  /** Signs in as another person, and leads back. */
  switchTo: string
}

/** The answer of a person, on its way to the program. */
export interface AuthorizedView {
  isApproved: boolean
  href: string
}

export interface DeviceView {
  userCode: string
  problem: string
}

export interface MessageView {
  icon: 'clock' | 'link' | 'lock' | 'person' | 'check' | 'cloud' | 'compass'
  heading: string
  sentence: string
  at: Moment | null
  actions: Action[]
  small: string
}

/** The first part of a text file, in a frame of its own. */
export interface TextView {
  text: string
  rest: string
}

/** The page of a file request, as one sender sees it. */
export interface RequestView {
  here: string
  /** Where the script of the page sends files to. */
  api: string
  label: string
  paragraphs: string[]
  askedBy: string
  until: Moment | null
  kinds: string[]
  maxFile: Size
  maxFileBytes: number
  /** What the sender has to give first. */
  asks: { password: boolean; name: boolean } | null
  /** The name that they have given. */
  name: string
  isFull: boolean
  /** The token of the sender, for the script. */
  sender: string
  sent: (ShownFile & { at: Moment })[]
  problem: string
}

/** The templates with the types of their data. */
export interface Views {
  welcome: object
  home: HomeView
  share: ShareView
  request: RequestView
  invite: InviteView
  login: LoginView
  sessions: SessionsView
  logout: object
  identities: IdentitiesView
  link: LinkView
  message: MessageView
  authorize: AuthorizeView
  authorized: AuthorizedView
  device: DeviceView
  workspace: LevelView
  'shared-folder': SharedFolderView
}

/** The data of the frame around every page. */
export interface Frame {
  title: string
  caller: Person | null
  /** Whether to offer to sign in at the top. */
  signIn: string
  notice: string
  graphiql: boolean
}

const eta = new Eta({
  views: fileURLToPath(new URL('views', import.meta.url)),
  cache: true,
  autoTrim: ['nl', 'nl'],
})
eta.loadTemplate('@satchel', satchel)

/** Renders a page. All values in a template are escaped, except included templates. */
export const renderPage = <V extends keyof Views>(view: V, frame: Frame, data: Views[V]): string =>
  eta.render(`/${view}`, { ...data, frame, assets })

export const renderText = (title: string, data: TextView): string =>
  eta.render('/text', { ...data, title, assets })
