export const searchOrders = ['relevance', 'name', 'newest', 'oldest', 'largest', 'smallest']

/** Known values of the search filters. */
const values: Record<string, readonly string[]> = {
  type: [
    ...[
      'pdf',
      'image',
      'video',
      'audio',
      'document',
      'spreadsheet',
      'presentation',
      'archive',
      'text',
      'folder',
    ],
  ],
  is: ['shared'],
  by: ['me'],
  drive: ['me'],
}

const about: Record<string, string> = {
  type: 'kind of file',
  size: 'size, such as size:>10mb',
  before: 'changed before a year, month or day',
  after: 'changed since a year, month or day',
  by: 'who created it',
  in: 'folder above it',
  drive: 'your files, or a workspace',
  is: 'is:shared: what is shared',
  tag: 'tag',
  name: 'word of the name alone',
}

/**
 * Completion candidates for a word of a search.
 *
 * @param workspaces loads workspace names on demand
 */
export async function searchFilters(
  word: string,
  workspaces: () => Promise<string[]>,
): Promise<{ value: string; about: string }[]> {
  const [, key, given = ''] = /^(\p{L}+):(.*)$/su.exec(word) ?? []
  if (key === undefined)
    return Object.entries(about).map(([name, text]) => ({ value: `${name}:`, about: text }))
  const known = [...(values[key] ?? []), ...(key === 'drive' ? await workspaces() : [])]
  // `type:` accepts several values.
  const front = key === 'type' ? given.slice(0, given.lastIndexOf(',') + 1) : ''
  return known.map(value => ({ value: `${key}:${front}${value}`, about: '' }))
}
