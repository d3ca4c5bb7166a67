import { ofBrowser } from '../parts/memory.ts'

const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

const KEY = 'satchel.language'
const known = (tag: string) =>
  languages.find(language => tag.toLowerCase().split('-')[0] === language)

const readChoice = () => known(ofBrowser.read(KEY) ?? '')

/**
 * The language of this tab: the person's choice, else the browser's first preference that we have.
 */
export const language: Language =
  readChoice() ?? navigator.languages.map(known).find(found => found) ?? 'en'

/** Some systems report invalid language tags such as "en-US@posix", which Intl rejects. */
function isTag(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length === 1
  } catch {
    return false
  }
}

/**
 * The locale for dates, numbers and the text direction: the person's own region, if it fits the
 * language. `en-Arab` is right-to-left English, to test such languages.
 */
export const locale: string =
  navigator.languages.find(name => known(name) === language && isTag(name)) ?? language

/** Sets the language for this browser and reloads the page, because texts are read once. */
export function chooseLanguage(chosen: Language): void {
  ofBrowser.write(KEY, chosen)
  location.reload()
}
