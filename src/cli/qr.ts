import { encodeQR } from 'qr'

/** Black on white, whatever the colours of the terminal, because scanners need it. */
const [paper, end] = ['\u001b[38;5;16;48;5;231m', '\u001b[0m']

/** A URL as a QR code. Each character cell shows two modules, one above the other. */
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
