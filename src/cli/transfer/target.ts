import type { LimitFunction } from 'p-limit'
import { Failure, isFailure } from '../failure.ts'
import { joinPath } from '../path.ts'
import type { Place } from '../place.ts'
import type { Progress } from '../progress.ts'

/** Where a file is uploaded to. */
export interface Target {
  place: Place
  /** In the place. */
  folder: string
  name: string
  progress: Progress
  /** Limits parallel parts, across all files. */
  parts: LimitFunction
}

export interface Stored {
  size: number
  md5Checksum: string
  /** `unchanged`: the service had these bytes under this name already. */
  status: 'uploaded' | 'unchanged'
}

export const pathOf = ({ folder, name }: Pick<Target, 'folder' | 'name'>): string => joinPath(folder, name)

/** Whether the service has these bytes under this name; false with a key that may not read. */
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
  return new Failure('PATH_EXISTS', `${path} exists with other content. Choose another --name, or delete it.`, {
    path,
  })
}
