const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
const numbers = new Intl.NumberFormat(document.documentElement.lang, {
  maximumFractionDigits: 1,
})

/** A size in bytes, formatted for people. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${numbers.format(value)} ${units[unit]}`
}
