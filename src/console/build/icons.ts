import { icons as lucide } from '@iconify-json/lucide'

/** What every shape is drawn with: parts/icon.tsx says it once for all. */
const pen =
  ' fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"'

/**
 * The shapes of an icon of Lucide: elements of SVG with their attributes.
 * @throws Error for a name that Lucide does not have, or no longer has, and for an icon that is
 * more than shapes
 */
export function shapesOf(name: string): [tag: string, attributes: Record<string, string>][] {
  const body = lucide.icons[name]?.body.replaceAll(pen, '').replace(/^<g>(.*)<\/g>$/, '$1')
  const shape = /<([a-z]+)((?: [a-z]\w*="[^"]*")+)\/>/g
  if (!body || body.replaceAll(shape, ''))
    throw new Error(`Lucide has no icon ${name}, or not as plain shapes.`)
  return [...body.matchAll(shape)].map(([, tag = '', attributes = '']) => [
    tag,
    Object.fromEntries(
      [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
    ),
  ])
}
