import { hrefOf, parentOf, trim } from '../drive/place.ts'

/** An entry with its drive. */
export interface Placed {
  __typename: 'File' | 'Folder'
  id: string
  path: string
  drive: { owner: { __typename: 'Person' } | { __typename: 'Workspace'; slug: string } }
}

/** The URL of a folder, or of a file shown on top of its folder. */
export function addressOf({ __typename, id, path, drive: { owner } }: Placed): {
  to: string
  search: object
} {
  const workspace = owner.__typename === 'Workspace' ? owner.slug : null
  if (__typename === 'Folder') return { to: hrefOf({ workspace, path: trim(path) }), search: {} }
  return { to: hrefOf({ workspace, path: parentOf(trim(path)) }), search: { open: id, sel: id } }
}
