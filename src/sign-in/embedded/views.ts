import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { ShownBrand } from '../../http/brand.ts'
import { satchel } from '../../http/icon.ts'
import type { Language } from '../../language/languages.ts'
import { assets } from '../../pages/assets.ts'
import { sayIn } from './text.ts'

export interface Field {
  name: string
  label: string
  type: 'text' | 'email' | 'password'
  autocomplete: string
  value?: string
  hint?: string
  problem?: string | undefined
  required?: true
  maxlength?: number
  inputmode?: 'numeric'
  autofocus?: boolean
  readonly?: true
  /** With a button that copies the value. */
  copy?: true
}

export interface Link {
  label: string
  href: string
}

interface Headed {
  heading: string
  icon: 'satchel' | 'lock' | 'check' | 'clock' | 'link' | 'mail' | 'person' | 'cloud'
  lead: string[]
  links: Link[]
}

export interface FormView extends Headed {
  action: string
  problem: string
  hidden: [name: string, value: string][]
  fields: Field[]
  buttons: { label: string; quiet?: true; name?: string; value?: string }[]
  passkey?: PasskeyUse | undefined
  /** An SVG of the service. */
  picture?: string
  facts?: { label: string; value: string }[]
  tick?: { name: string; label: string }
  note?: string
}

/** The data with which a script uses a passkey on a form: see src/pages/passkey. */
export interface PasskeyUse {
  kind: 'get' | 'create'
  /** The WebAuthn options as JSON. */
  options: string
  label: string
}

export interface CodesView extends Headed {
  codes: string[]
  action: string
  hidden: [name: string, value: string][]
  next: string
}

export interface Section {
  id: string
  heading: string
  lead: string[]
  rows: { id: string; title: string; text: string; buttons: { do: string; label: string }[] }[]
  forms: {
    do: string
    label: string
    hidden: [name: string, value: string][]
    fields: Field[]
    passkey?: PasskeyUse
  }[]
}

export interface SectionsView extends Headed {
  action: string
  problem: string
  done: string
  parts: Section[]
}

/** The templates with the types of their data. */
export interface AccountViews {
  form: FormView
  message: Headed
  codes: CodesView
  sections: SectionsView
}

const eta = new Eta({
  views: fileURLToPath(new URL('views', import.meta.url)),
  cache: true,
  autoTrim: ['nl', 'nl'],
})
// All pages share their icons.
const houseView = (name: string) =>
  readFileSync(new URL(`../../pages/views/${name}.eta`, import.meta.url), 'utf8')
eta.loadTemplate('@satchel', satchel)
eta.loadTemplate('@shape', houseView('shape'))
eta.loadTemplate('@icon', houseView('icon').replace("'/shape'", "'@shape'"))
eta.loadTemplate('@brand', houseView('brand').replace("'/icon'", "'@icon'"))
eta.loadTemplate('@brand-links', houseView('brand-links'))

/** Renders a page in a language. All values in a template are escaped. */
export function renderAccountPage<V extends keyof AccountViews>(
  view: V,
  language: Language,
  title: string,
  data: AccountViews[V],
  brand: ShownBrand,
): string {
  const say = sayIn(language, brand)
  return eta.render(`/${view}`, { ...data, title, language, say, assets, brand })
}
