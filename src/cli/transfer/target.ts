import type { LimitFunction } from 'p-limit'
import { Failure, isFailure } from '../failure.ts'
import { joinPath } from '../path.ts'
import type { Place } from '../place.ts'
import type { Progress } from '../progress.ts'

/** A file on its way up. */
export interface Target {
  place: Place
  /** In the place. */
  folder: string
  name: string
  progress: Progress
  /** How many parts at a time, of all files together. */
  parts: LimitFunction
}

export interface Stored {
  size: number
  md5Checksum: string
  /** `unchanged`: the service had these bytes under this name already. */
  status: 'uploaded' | 'unchanged'
}

export const pathOf = ({ folder, name }: Pick<Target, 'folder' | 'name'>): string => joinPath(folder, name)

/** Whether the service has these bytes under this name. A key that may not look does not know. */
export async function isThere(target: Target, size: number, md5Checksum: string): Promise<boolean> {
  try {
    const found = await target.place.find(pathOf(target))
    return found?.kind === 'file' && found.file.size === size && found.file.md5Checksum === md5Checksum
  } catch (error) {
    if (isFailure(error, 'INSUFFICIENT_SCOPE')) return false
    throw error
  }
}

export const pathExists = (target: Target): Failure => {
  const path = target.place.show(pathOf(target))
  return new Failure('PATH_EXISTS', `${path} exists, and holds something else. Choose another --name, or delete it.`, {
    path,
  })
}
