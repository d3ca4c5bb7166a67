import { join } from 'node:path'

/** The environment variables of the command line. Only this file reads them. */
export interface Environment {
  url: string | undefined
  key: string | undefined
  session: string | undefined
  /** https://no-color.org */
  noColor: boolean
  term: string | undefined
  /** Set in a session of SSH. */
  ssh: string | undefined
  /** Set where windows can be shown, except on macOS and Windows. */
  display: string | undefined
}

const given = (name: string): string | undefined => process.env[name] || undefined

export const readEnvironment = (): Environment => ({
  url: given('SATCHEL_URL'),
  key: given('SATCHEL_KEY'),
  session: given('SATCHEL_SESSION'),
  noColor: given('NO_COLOR') !== undefined,
  term: given('TERM'),
  ssh: given('SSH_CONNECTION') ?? given('SSH_TTY'),
  display: given('DISPLAY') ?? given('WAYLAND_DISPLAY'),
})

/** The folders that are searched for programs, as the system writes them. */
export const searchPath = (): string => given('PATH') ?? ''

/** The environment of a program that is started, with more variables. */
export const environmentWith = (more: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
})

/** The folders in which this command keeps its files, for the current user. */
export interface Folders {
  config: string
  /** State of uploads that can be resumed. */
  uploads: string
  /** State of synchronized folders. */
  syncs: string
  /** What is known of mounts, and their files that are not uploaded yet. */
  mounts: string
}

export async function findFolders(): Promise<Folders> {
  const { default: envPaths } = await import('env-paths')
  const { config, data, log } = envPaths('satchel', { suffix: '' })
  // What the library calls the log is the state folder of the XDG specification, and a folder for
  // logs elsewhere.
  const state = process.platform === 'linux' ? log : data
  return {
    config,
    uploads: join(state, 'uploads'),
    syncs: join(state, 'syncs'),
    mounts: join(state, 'mounts'),
  }
}
