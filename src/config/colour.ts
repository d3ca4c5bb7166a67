/** A colour as red, green and blue, each 0 to 255. */
type Rgb = [number, number, number]

const rgbOf = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

const hexOf = (rgb: Rgb): string =>
  `#${rgb.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** Mixes two colours (#rrggbb); with a share of 1, the result is `other`. */
export function mixed(colour: string, other: string, share: number): string {
  const [a, b] = [rgbOf(colour), rgbOf(other)]
  return hexOf(a.map((part, i) => part + ((b[i] ?? 0) - part) * share) as Rgb)
}

/** The relative luminance of WCAG 2, from 0 (black) to 1 (white). */
function luminanceOf(colour: string): number {
  const [red, green, blue] = rgbOf(colour).map(part => {
    const value = part / 255
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast of two colours by WCAG 2, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** Mixes a colour with as little of another as makes `isReadable` true. */
export function adaptedBy(
  colour: string,
  toward: string,
  isReadable: (colour: string) => boolean,
): string {
  for (let share = 0; share < 1; share += 0.02) {
    const adapted = mixed(colour, toward, share)
    if (isReadable(adapted)) return adapted
  }
  return toward
}
