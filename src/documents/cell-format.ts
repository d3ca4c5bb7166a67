import ssf from 'ssf'
import { readXml } from './xml.ts'

/** Formats of dates that follow the language of Excel: here as ISO 8601. */
const localDates: Record<number, string> = { 14: 'yyyy-mm-dd', 22: 'yyyy-mm-dd hh:mm' }
/** Further dates of East Asian Excel. */
const isEastAsianDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** Shows a number as its cell does. */
export type ShowCell = (value: string, style: string | undefined) => string

/**
 * The formats of cells, by the number of their style.
 * @param styles the part `styles.xml`
 * @param is1904 whether days are counted from 1904
 */
export function cellFormats(styles: string, is1904: boolean): ShowCell {
  const codes = new Map<number, string>()
  const cells: number[] = []
  let isInCells = false
  readXml(styles, {
    open(name, { numFmtId = '0', formatCode = '' }) {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode)
      if (name === 'cellXfs') isInCells = true
      if (name === 'xf' && isInCells) cells.push(Number(numFmtId))
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false
    },
  })
  return (value, style) => {
    const id = cells[Number(style ?? 0)] ?? 0
    const code =
      localDates[id] ?? (isEastAsianDate(id) ? localDates[14] : undefined) ?? codes.get(id) ?? id
    const number = Number(value)
    if (code === 0 || value === '' || Number.isNaN(number)) return shortened(value)
    try {
      // Digits are not grouped, so that a number is found as people write it.
      return ssf.format(
        typeof code === 'string' ? code.replaceAll('#,##', '') : ungrouped(code),
        number,
        {
          date1904: is1904,
        },
      )
    } catch {
      return shortened(value)
    }
  }
}

/** The predefined formats with groups of digits, without them. */
const ungrouped = (id: number): number | string =>
  ({ 3: '0', 4: '0.00', 37: '0', 38: '0', 39: '0.00', 40: '0.00' })[id] ?? id

/** Excel stores 15 digits or more, and shows fewer. */
function shortened(value: string): string {
  const number = Number(value)
  return /\.\d{10}/.test(value) && !Number.isNaN(number) ? String(+number.toPrecision(12)) : value
}
