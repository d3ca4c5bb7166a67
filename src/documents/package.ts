import { type UnzipFileInfo, unzipSync } from 'fflate'
import { BadDocument } from './bad-document.ts'
import { decode } from './decode.ts'
import { readXml } from './xml.ts'

/** The maximum unpacked size of one part of a document, and of all its parts. */
const PART = 32 * 1024 * 1024
const ALL = 64 * 1024 * 1024
const MOST_PARTS = 2000

/**
 * The parts of a zipped document. Unpacks only those that are asked for, each up to its declared
 * size and a limit. Names are compared without case, as Office does.
 */
export interface Package {
  /** The names of all parts, in lower case. */
  names: ReadonlySet<string>
  /**
   * Unpacks some parts, decoded.
   * @throws BadDocument
   */
  read(names: Iterable<string>): Map<string, string>
}

/** Opens a zipped document. @throws for a broken archive */
export function openPackage(bytes: Uint8Array): Package {
  const names = new Set<string>()
  const keyOf = (name: string) => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase()
  unzipSync(bytes, {
    filter({ name }) {
      names.add(keyOf(name))
      return false
    },
  })
  let left = ALL
  let parts = 0
  return {
    names,
    read(wanted) {
      const keys = new Set([...wanted].map(keyOf).filter(name => names.has(name)))
      const isWanted = ({ name, originalSize }: UnzipFileInfo): boolean => {
        if (!keys.has(keyOf(name))) return false
        parts += 1
        if (originalSize > PART || originalSize > left || parts > MOST_PARTS)
          throw new BadDocument('too-large')
        left -= originalSize
        return true
      }
      const found = keys.size > 0 ? unzipSync(bytes, { filter: isWanted }) : {}
      return new Map(Object.entries(found).map(([name, part]) => [keyOf(name), decode(part)]))
    },
  }
}

/** A relationship between two parts of a package. */
export interface Relationship {
  id: string
  /** The last word of its type, such as `header`. */
  type: string
  /** The name of the other part, in lower case. */
  target: string
}

/** The name of the part with the relationships of a part; of the package itself for ''. */
export function relationshipsOf(part: string): string {
  const slash = part.lastIndexOf('/')
  return `${part.slice(0, slash + 1)}_rels/${part.slice(slash + 1)}.rels`
}

/** Reads the relationships of a part. External ones, such as links, are left out. */
export function readRelationships(xml: string, part: string): Relationship[] {
  const found: Relationship[] = []
  readXml(xml, {
    open(name, { Id = '', Type = '', Target = '', TargetMode = '' }) {
      if (name !== 'Relationship' || TargetMode === 'External') return
      found.push({
        id: Id,
        type: Type.slice(Type.lastIndexOf('/') + 1),
        target: resolved(part, Target),
      })
    },
  })
  return found
}

/** The part that a path names, seen from a part. */
export function resolved(part: string, path: string): string {
  const clean = path.replace(/[?#].*/, '')
  const folder = clean.startsWith('/') ? [] : part.split('/').slice(0, -1)
  const at: string[] = folder
  for (const name of clean.split('/')) {
    if (name === '..') at.pop()
    else if (name !== '' && name !== '.') at.push(name)
  }
  return at.join('/').toLowerCase()
}
