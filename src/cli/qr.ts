import { encodeQR } from 'qr'

/** Black on white whatever the colours of the terminal are: cameras want it so. */
const [paper, end] = ['\u001b[38;5;16;48;5;231m', '\u001b[0m']

/** An address as a QR code: each character is two modules, one above the other. */
export function qrLines(url: string): string[] {
  const modules = encodeQR(url, 'raw', { ecc: 'low', border: 2 })
  const lines = []
  for (let y = 0; y < modules.length; y += 2) {
    const below = modules[y + 1]
    const row =
      modules[y]?.map((isDark, x) =>
        isDark ? (below?.[x] ? '█' : '▀') : below?.[x] ? '▄' : ' ',
      ) ?? []
    lines.push(paper + row.join('') + end)
  }
  return lines
}
