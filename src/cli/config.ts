import { join } from 'node:path'

/** The environment variables of the command line. Only this file reads them. */
export interface Environment {
  url: string | undefined
  key: string | undefined
  session: string | undefined
  /** A PEM file of certificate authorities that are trusted beside the usual ones. */
  caFile: string | undefined
  /** https://no-color.org */
  noColor: boolean
  term: string | undefined
  /** Set in SSH sessions. */
  ssh: string | undefined
  /** Set if windows can be shown, except on macOS and Windows. */
  display: string | undefined
}

const given = (name: string): string | undefined => process.env[name] || undefined

export const readEnvironment = (): Environment => ({
  url: given('SATCHEL_URL'),
  key: given('SATCHEL_KEY'),
  session: given('SATCHEL_SESSION'),
  caFile: given('SATCHEL_CA_FILE'),
  noColor: given('NO_COLOR') !== undefined,
  term: given('TERM'),
  ssh: given('SSH_CONNECTION') ?? given('SSH_TTY'),
  display: given('DISPLAY') ?? given('WAYLAND_DISPLAY'),
})

/** The search path for programs, in the format of the system. */
export const searchPath = (): string => given('PATH') ?? ''

/** The environment for a child process, with additional variables. */
export const environmentWith = (more: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
})

/** The folders for this program's files, per user. */
export interface Folders {
  config: string
  /** State of resumable uploads. */
  uploads: string
  /** State of synchronized folders. */
  syncs: string
  /** State of mounts, with files that were not uploaded yet. */
  mounts: string
}

export async function findFolders(): Promise<Folders> {
  const { default: envPaths } = await import('env-paths')
  const { config, data, log } = envPaths('satchel', { suffix: '' })
  // The library's `log` is the XDG state folder on Linux, but a folder for log files elsewhere.
  const state = process.platform === 'linux' ? log : data
  return {
    config,
    uploads: join(state, 'uploads'),
    syncs: join(state, 'syncs'),
    mounts: join(state, 'mounts'),
  }
}
