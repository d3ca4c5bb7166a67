import { type Language, languageOfTag } from './languages.ts'

/** Longer headers are cut: no browser sends one. */
const MOST = 200

/** Returns the language that a browser prefers, by its Accept-Language header. */
export function acceptedLanguage(header = ''): Language {
  const wanted = header
    .slice(0, MOST)
    .split(',')
    .map((part, i) => {
      const [tag = '', ...more] = part.trim().split(';')
      const weight = Number(/^\s*q=([\d.]+)/i.exec(more.join(';'))?.[1] ?? 1)
      return { language: languageOfTag(tag), weight, i }
    })
    .sort((a, b) => b.weight - a.weight || a.i - b.i)
  return wanted.find(({ language, weight }) => language && weight > 0)?.language ?? 'en'
}
