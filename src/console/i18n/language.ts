import { LANGUAGE_COOKIE, type Language, languageOfTag } from '../../language/languages.ts'

/** The pages of the service read the same cookie. */
const readChoice = () =>
  languageOfTag(new RegExp(`\\b${LANGUAGE_COOKIE}=(\\w+)`).exec(document.cookie)?.[1] ?? '')

/**
 * The language of this tab: the person's choice, else the browser's first preference that we have.
 */
export const language: Language =
  readChoice() ?? navigator.languages.map(languageOfTag).find(found => found) ?? 'en'

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
  navigator.languages.find(name => languageOfTag(name) === language && isTag(name)) ?? language

const YEAR_SECONDS = 365 * 86_400

/** Sets the language for this browser and reloads the page, because texts are read once. */
export function chooseLanguage(chosen: Language): void {
  // biome-ignore lint/suspicious/noDocumentCookie: some browsers have no cookie store
  document.cookie = `${LANGUAGE_COOKIE}=${chosen}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
  location.reload()
}
