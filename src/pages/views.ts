import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { TextKind } from '../formats/viewer.ts'
import type { ShownBrand } from '../http/brand.ts'
import { satchel } from '../http/icon.ts'
import { assets } from './assets.ts'
import type { Texts } from './text.ts'
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
  /** URL of the complete lists; null if they are shown. */
  all: string | null
  /** Whether the console is enabled but was not built. */
  unbuilt: boolean
}

/** A file or folder in a list. For a folder, the label of its kind includes the number of files. */
export interface LevelEntry extends ShownFile {
  /** Starts at the root, in the format of the service. */
  path: string
  href: string
  changed: Moment
  /** The folder of a search result; null for the root. */
  where: { label: string; href: string } | null
  /** URL of the tile's picture; null for an icon. */
  picture: string | null
  /** URL of the file's content; null for a folder, or if downloads are forbidden. */
  download: string | null
}

/** The contents of a folder, page by page. */
export interface LevelView {
  /** The workspace or shared folder, and the folders down to this one. */
  crumbs: { label: string; href: string }[]
  entries: LevelEntry[]
  next: string | null
}

/** A sort order of a list, and its current state. */
export interface SortView {
  name: string
  label: string
  href: string
  now: 'ascending' | 'descending' | null
}

/** The preview of a file. */
export interface PreviewView {
  kind: 'image' | 'pdf' | 'audio' | 'video' | 'archive' | 'document' | 'text'
  /** How the script renders a text; null for plain text. */
  layout: TextKind | null
  src: string
  /** File size in bytes. */
  size: number
  /** Whether the file is a short text, for which a low frame is enough. */
  short: boolean
}

/**
 * How a visitor saves the shown entries to a drive, and the place of entries that were just saved.
 */
export interface SaveView {
  /** Target of the form. */
  action: string
  /** Query parameters of the place in the share. */
  at: Record<string, string>
  saved: string | null
}

export interface ShareView {
  /** Null while the visitor may not see it. */
  file: ShownFile | null
  /** The heading that the sharer chose; empty for the name of the file. */
  title: string
  /** The message of the sharer, in lines. */
  paragraphs: string[]
  isPublic: boolean
  until: Moment | null
  /** URL of the page itself. */
  own: string
  /** URL of the content. Null if downloads are forbidden. */
  download: string | null
  /** Null for visitors without a drive or permission to save. */
  save: SaveView | null
  /** URL of the shared folder that contains the file; null if the file itself is shared. */
  back: string | null
  needs: 'sign-in' | 'password' | null
  sharedBy: Person | null
  preview: PreviewView | null
  /** Why there is no preview, if a visitor might expect one. */
  noPreview: string
  signIn: string
  problem: string
}

export interface SharedFolderView extends LevelView {
  /** The heading that the sharer chose; empty for the name of the folder. */
  title: string
  /** The message of the sharer, in lines. */
  paragraphs: string[]
  /** Whether tiles are large, because most entries are pictures. */
  pictures: boolean
  /** URLs that choose a view. */
  looks: { look: 'list' | 'tiles'; href: string }[]
  /** The number of files at all levels of the share, and of this folder; null if unknown. */
  fileCount: number
  levelCount: number | null
  save: SaveView | null
  /** URL in the console for people who may edit. */
  edit: string | null
  tiles: boolean
  sorts: SortView[]
  /** The search form, with the query parameters to keep. `clear` links back to the folder. */
  search: { action: string; text: string; clear: string; kept: [name: string, value: string][] }
  size: Size
  until: Moment | null
  sharedBy: Person | null
  /**
   * Target of the form that downloads selected entries by path, and the most entries that it
   * accepts. Null if downloads are forbidden.
   */
  zip: { action: string; folder: string; most: number } | null
}

export interface InviteView {
  here: string
  workspace: string
  role: string
  /** The permissions of the role. */
  rights: string
  invitedBy: Person
  until: Moment
  signIn: string
  /** Where an account of this service is created for it; empty where there are none. */
  join: string
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

/** An identity that waits for confirmation. The frame shows the account. */
export interface LinkView {
  provider: string
  person: Person
}

/** A program that requests a key. */
export interface AuthorizeView {
  /** Target of the form. */
  action: string
  /** The account that decides. Another one may have signed in meanwhile. */
  account: string
  name: string
  clientId: string
  rights: string[]
  lifetimes: { value: string; label: string; chosen: boolean }[]
  /** The host of the redirect URL; null for the device flow. */
  redirect: string | null
  /** Whether the redirect leads to this computer. */
  isHere: boolean
  /** The rights that the person may choose from; null if the program gets what it asks for. */
  choices: { scope: string; label: string; isAsked: boolean; isChosen: boolean }[] | null
  device: {
    userCode: string
    /** Whether the program shows the code. */
    showsCode: boolean
    network: string
    isElsewhere: boolean
    since: Moment
  } | null
  /** Signs in as another person, and returns. */
  switchTo: string
}

/** The decision of a person, to be sent to the program. */
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

/** The beginning of a text file, in a frame. */
export interface TextView {
  text: string
  rest: string
}

/** The page of a file request for one sender. */
export interface RequestView {
  here: string
  /** URL to which the page's script uploads. */
  api: string
  label: string
  paragraphs: string[]
  askedBy: string
  until: Moment | null
  kinds: string[]
  maxFile: Size
  maxFileBytes: number
  /** What the sender has to enter first. */
  asks: { password: boolean; name: boolean } | null
  /** The name that the sender has given. */
  name: string
  isFull: boolean
  /** The token of the sender, for the script. */
  sender: string
  sent: (ShownFile & { at: Moment })[]
  /** The thanks for one file, and for several. */
  thanksForOne: string
  thanksForMore: string
  /** The messages of the script, as JSON. */
  texts: string
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
  /** Whether the header offers to sign in. */
  signIn: string
  notice: string
  /** Open Graph properties, for link previews. */
  og: [property: string, content: string][]
  graphiql: boolean
  /** Whether the service has accounts of its own, with a page about their security. */
  accounts: boolean
  brand: ShownBrand
}

const eta = new Eta({
  views: fileURLToPath(new URL('views', import.meta.url)),
  cache: true,
  autoTrim: ['nl', 'nl'],
  // Every template can read messages.
  functionHeader: 'const { say, rich, forScript } = it',
})
eta.loadTemplate('@satchel', satchel)

/** Renders a page. All values in a template are escaped, except included templates. */
export const renderPage = <V extends keyof Views>(
  view: V,
  texts: Texts,
  frame: Frame,
  data: Views[V],
): string => eta.render(`/${view}`, { ...texts, ...data, frame, assets })

export const renderText = (texts: Texts, title: string, data: TextView): string =>
  eta.render('/text', { ...texts, ...data, title, assets })
