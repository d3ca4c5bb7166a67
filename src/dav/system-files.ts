/**
 * Files that macOS and Windows leave in folders that they display: AppleDouble files and folder
 * settings.
 */
export const isSystemFile = (name: string): boolean =>
  name.startsWith('._') || known.has(name.toLowerCase())

const known = new Set([
  '.ds_store',
  'desktop.ini',
  'thumbs.db',
  '.localized',
  '.spotlight-v100',
  '.trashes',
])
