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

/** The settings that name a program, and the file names of the program. */
const programs = { FFMPEG: ['ffmpeg'], HEIF_CONVERT: ['heif-convert', 'heif-dec'] } as const

/** The path of a program from its setting; null if there is none. */
export function readProgram(
  setting: keyof typeof programs,
  said: string,
  searched = '',
  problems: string[] = [],
): string | null {
  if (said === 'false') return null
  if (!said)
    return (
      programs[setting]
        .flatMap(name =>
          searched
            .split(delimiter)
            .filter(Boolean)
            .map(folder => join(folder, name)),
        )
        .find(isProgram) ?? null
    )
  const path = resolve(said)
  if (!isProgram(path)) problems.push(`${setting}: ${path} is no program that can be run.`)
  return path
}
