import { adaptedBy, contrastOf, mixed } from './colour.ts'

/** The lowest contrast of text that WCAG 2 accepts (AA). */
const READABLE = 4.5
/** The backgrounds on which links and buttons are drawn: tokens.css. */
const LIGHT = { paper: '#f3f5fa', card: '#ffffff', glow: '#e3ecfb' }
const DARK = { paper: '#0e131b', card: '#171e29', glow: '#152440' }

/** A colour for one theme: of links and buttons, stronger when pointed at, and as a background. */
export interface Shades {
  accent: string
  strong: string
  on: string
  tint: string
  glow: string
}

export interface Colours {
  light: Shades
  dark: Shades
}

/** The colours of Satchel, like tokens.css. */
export const ownColours: Colours = {
  light: { accent: '#1f5fbf', strong: '#174c9c', on: '#ffffff', tint: '#e8f0fc', glow: LIGHT.glow },
  dark: { accent: '#8ab4f8', strong: '#a9c8fb', on: '#0b1830', tint: '#1d2c47', glow: DARK.glow },
}

/** Shades of a colour that can be read on every background of both themes. */
export function coloursOf(colour: string): Colours {
  const tintOf = (accent: string, card: string) => mixed(card, accent, 0.12)
  const isReadable = (accent: string, { paper, card }: typeof LIGHT) =>
    [paper, card, tintOf(accent, card)].every(on => contrastOf(accent, on) >= READABLE)
  const shades = (toward: string, on: string, ground: typeof LIGHT): Shades => {
    const accent = adaptedBy(colour, toward, shade => isReadable(shade, ground))
    return {
      accent,
      strong: mixed(accent, toward, 0.22),
      on,
      tint: tintOf(accent, ground.card),
      glow: mixed(ground.paper, accent, 0.1),
    }
  }
  return {
    light: shades('#000000', '#ffffff', LIGHT),
    dark: shades('#ffffff', '#0b1020', DARK),
  }
}
