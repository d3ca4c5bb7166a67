import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/**
 * Markdown as GitHub reads it. HTML in it stays text, and URLs that run scripts are left out (both
 * by micromark). Pictures are named and not loaded: a text that somebody has sent must not tell
 * where it is read.
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
    // Footnotes lead to their place; paths lead nowhere, since the file has no place that they
    // could begin at.
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
