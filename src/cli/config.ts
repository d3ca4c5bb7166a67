import { join } from 'node:path'

/** What the environment says. It is read here, and nowhere else in this folder. */
export interface Environment {
  url: string | undefined
  key: string | undefined
  session: string | undefined
  /** https://no-color.org */
  noColor: boolean
  term: string | undefined
}

const given = (name: string): string | undefined => process.env[name] || undefined

export const readEnvironment = (): Environment => ({
  url: given('SATCHEL_URL'),
  key: given('SATCHEL_KEY'),
  session: given('SATCHEL_SESSION'),
  noColor: given('NO_COLOR') !== undefined,
  term: given('TERM'),
})

/** Where this user's files of this command are. */
export interface Folders {
  config: string
  /** What can be gone on with after a break. */
  uploads: string
}

export async function findFolders(): Promise<Folders> {
  const { default: envPaths } = await import('env-paths')
  const { config, data, log } = envPaths('satchel', { suffix: '' })
  // What the library calls the log is the state folder of the XDG specification, and a folder for logs elsewhere.
  return { config, uploads: join(process.platform === 'linux' ? log : data, 'uploads') }
}
