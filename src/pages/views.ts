import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import { satchel } from '../http/icon.ts'
import { assets } from './assets.ts'
import type { Moment, ShownFile, Size } from './words.ts'

export interface Person {
  name: string
  email: string
  /** Whether anybody could have given this address. */
  unverified?: boolean
}

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
  received: { unseen: number; more: number; rows: (ShownFile & { href: string; by: Person; seen: boolean })[] }
  invites: { more: number; rows: { href: string; workspace: string; role: string; until: Moment }[] }
  workspaces: { more: number; rows: { name: string; role: string; href: string }[] }
  /** URL of the complete lists; null where they are shown. */
  all: string | null
  /** Whether the console is to be served, and is not there. */
  unbuilt: boolean
}

export interface WorkspaceView {
  /** The workspace and the folders down to this one. */
  crumbs: { label: string; href: string }[]
  folders: { name: string; href: string; files: string; size: Size }[]
  files: (ShownFile & { href: string })[]
  next: string | null
}

/** The preview of a file. */
export interface PreviewView {
  kind: 'image' | 'pdf' | 'audio' | 'video' | 'text'
  src: string
  /** Whether a small frame is enough. */
  short: boolean
}

export interface ShareView {
  file: ShownFile
  until: Moment
  here: string
  needs: 'sign-in' | 'password' | null
  sharedBy: Person | null
  preview: PreviewView | null
  /** Why there is no preview, where a visitor might expect one. */
  noPreview: string
  signIn: string
  problem: string
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
  rows: { id: string; current: boolean; device: string; address: string; since: Moment; used: Moment }[]
}

export interface IdentitiesView {
  identities: { id: string; provider: string; person: Person; emailVerified: boolean; since: Moment }[]
  add: { label: string; href: string }[]
}

/** An identity that waits to be confirmed; the account is in the frame. */
export interface LinkView {
  provider: string
  person: Person
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

/** The templates with the types of their data. */
export interface Views {
  welcome: object
  home: HomeView
  share: ShareView
  invite: InviteView
  login: LoginView
  sessions: SessionsView
  logout: object
  identities: IdentitiesView
  link: LinkView
  message: MessageView
  workspace: WorkspaceView
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

const eta = new Eta({ views: fileURLToPath(new URL('views', import.meta.url)), cache: true, autoTrim: ['nl', 'nl'] })
eta.loadTemplate('@satchel', satchel)

/** Renders a page. All values in a template are escaped, except included templates. */
export const renderPage = <V extends keyof Views>(view: V, frame: Frame, data: Views[V]): string =>
  eta.render(`/${view}`, { ...data, frame, assets })

export const renderText = (title: string, data: TextView): string => eta.render('/text', { ...data, title, assets })
