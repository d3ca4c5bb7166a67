import { type BlobStore, ForeignStore, type Marker } from './store.ts'

/** The label that a store should have. */
export interface Wanted extends Marker {
  /** Whether the installation has blobs that this store must have. */
  inUse: boolean
  /** Whether the store is known to be the right one even without a label. */
  isKnown: boolean
  /** The id of an installation whose label is replaced. */
  instead?: string | undefined
}

export const markerText = ({ installation, number }: Marker): string =>
  number === 0 ? `${installation}\n` : `${installation}\n${number}\n`

export function parseMarker(text: string): Marker {
  const [installation = '', number = '0'] = text.trim().split('\n')
  return { installation, number: Number(number) }
}

/**
 * Compares the marker of a store with the wanted one.
 * @param kind the name of such a store, such as "folder"
 * @returns whether the marker must be replaced, because it belongs to the source of a move or to a
 * replaced installation
 * @throws ForeignStore
 */
export function judgeMarker(there: Marker, wanted: Wanted, name: string, kind: string): boolean {
  if (there.installation !== wanted.installation && there.installation === wanted.instead)
    return true
  if (there.installation !== wanted.installation)
    throw new ForeignStore(
      `${name} belongs to a Satchel with another database. Set the database that it belongs to, or name an empty ${kind}`,
    )
  if (there.number === wanted.number) return false
  if (there.number > wanted.number)
    throw new ForeignStore(
      `${name} is the ${kind} that the files are being moved to, and does not have all of them. Name it together with the store that they are moved from, by the settings that begin with MOVE_FROM_`,
    )
  if (wanted.inUse)
    throw new ForeignStore(
      `${name} does not have all files: they were moved to another store. Name that one`,
    )
  return true
}

/**
 * Binds a store to its installation.
 * @param bind compares or writes its marker
 */
export function binding(
  marker: () => Promise<Marker | undefined>,
  bind: (wanted: Wanted) => Promise<void>,
): Pick<BlobStore, 'bind' | 'marker' | 'current' | 'newest'> {
  let bound = 0
  return {
    async bind(installation, inUse, number = 0, isKnown = false, instead) {
      await bind({ installation, inUse, number, isKnown, instead })
      bound = number
    },
    marker,
    current: async () => bound,
    newest: () => bound,
  }
}
