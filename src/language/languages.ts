/** The languages of pages, mails and the console. A new one also needs its catalogues. */
export const languages = ['en', 'de'] as const

export type Language = (typeof languages)[number]

/** The cookie with the language that a person has chosen. Scripts read and set it, too. */
export const LANGUAGE_COOKIE = 'language'

/** The language of a tag such as `de-AT`. Undefined for a language that is not available. */
export const languageOfTag = (tag: string): Language | undefined =>
  languages.find(language => tag.toLowerCase().split('-')[0] === language)

/** The locales for dates and numbers where only the language is known. */
export const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' }
