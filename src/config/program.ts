import { accessSync, constants } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of ffmpeg from the setting FFMPEG; null if there is none. */
export function readProgram(said: string, searched = '', problems: string[] = []): string | null {
  if (said === 'false') return null
  if (!said)
    return (
      searched
        .split(delimiter)
        .filter(Boolean)
        .map(folder => join(folder, 'ffmpeg'))
        .find(isProgram) ?? null
    )
  const path = resolve(said)
  if (!isProgram(path)) problems.push(`FFMPEG: ${path} is no program that can be run.`)
  return path
}
