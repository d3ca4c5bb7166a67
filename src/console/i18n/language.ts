import { ofBrowser } from '../parts/memory.ts'

const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

const KEY = 'satchel.language'
const known = (tag: string) =>
  languages.find(language => tag.toLowerCase().split('-')[0] === language)

const readChoice = () => known(ofBrowser.read(KEY) ?? '')

/**
 * The language of this tab: what was chosen here, else the first that the browser prefers and we
 * have.
 */
export const language: Language =
  readChoice() ?? navigator.languages.map(known).find(found => found) ?? 'en'

/**
 * Some systems tell languages by names that are no language tags, which every formatter refuses:
 * "en-US@posix".
 */
function isTag(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length === 1
  } catch {
    return false
  }
}

/**
 * For dates and numbers, and the direction of the page: the person's own region, where it is one of
 * this language. `en-Arab` is English from right to left, to try what a language of that direction
 * would look like.
 */
export const locale: string =
  navigator.languages.find(name => known(name) === language && isTag(name)) ?? language

/** Chooses a language for this browser. Texts are read once, so the page loads again. */
export function chooseLanguage(chosen: Language): void {
  ofBrowser.write(KEY, chosen)
  location.reload()
}
