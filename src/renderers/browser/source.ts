import { common, createLowlight } from 'lowlight'

const lowlight = createLowlight(common)

type Highlighted = ReturnType<typeof lowlight.highlight>['children'][number]

/** Highlights source code, with line numbers. */
export function source(text: string, language: string): Node {
  const code = document.createElement('code')
  code.className = 'source'
  code.dir = 'ltr'
  code.append(...lowlight.highlight(language, text).children.map(nodeOf))
  return code
}

function nodeOf(part: Highlighted): Node {
  if (part.type === 'text') return document.createTextNode(part.value)
  const span = document.createElement('span')
  if (part.type !== 'element') return span
  const { className } = part.properties
  if (Array.isArray(className)) span.className = className.join(' ')
  span.append(...part.children.map(child => nodeOf(child as Highlighted)))
  return span
}
