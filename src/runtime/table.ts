/** Formats a size: 1536 is 1.5 KiB. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1)
  return `${Number((bytes / 1024 ** power).toFixed(power > 0 ? 1 : 0))} ${units[power]}`
}

/**
 * Aligns rows in columns. User-supplied names must not move the cursor or change the text
 * direction.
 */
export function table(rows: string[][]): string {
  const plain = rows.map(row =>
    row.map(cell => cell.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu, ' ')),
  )
  const widths = plain[0]?.map((_, i) => Math.max(...plain.map(row => row[i]?.length ?? 0))) ?? []
  return plain
    .map(row =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
