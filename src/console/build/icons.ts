import { icons as lucide } from '@iconify-json/lucide'

/** The SVG attributes that all icons share. parts/icon.tsx sets them once. */
const pen =
  ' fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"'

/**
 * The shapes of a Lucide icon: SVG elements with their attributes.
 *
 * @throws Error if Lucide does not have the icon, or if the icon is more than shapes
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
