import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/**
 * Renders GitHub Flavored Markdown. micromark escapes HTML and drops URLs that run scripts. Images
 * are replaced by their names, so that a text from a stranger cannot track its readers.
 */
export function markdown(text: string): Node {
  const html = micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()] })
  const { body } = new DOMParser().parseFromString(html, 'text/html')
  for (const image of body.querySelectorAll('img')) {
    const named = document.createElement('em')
    named.textContent = image.alt || image.src
    image.replaceWith(named)
  }
  for (const box of body.querySelectorAll('input')) box.replaceWith(box.checked ? '☑' : '☐')
  for (const link of body.querySelectorAll('a')) {
    const href = link.getAttribute('href') ?? ''
    // Links to footnotes work. Relative links are removed, because the file has no base URL.
    if (href.startsWith('#')) continue
    if (/^(https?|mailto):/i.test(href)) {
      link.target = '_blank'
      link.rel = 'noopener noreferrer nofollow'
    } else link.removeAttribute('href')
  }
  const article = document.createElement('article')
  article.className = 'markdown'
  article.dir = 'auto'
  article.append(...[...body.childNodes].map(node => document.adoptNode(node)))
  return article
}
