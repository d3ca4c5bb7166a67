import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// The command line clients of Nextcloud (Debian: nextcloud-desktop-cmd) and ownCloud
// (owncloud-client-cmd), which sync like the desktop programs.

type Program = 'nextcloudcmd' | 'owncloudcmd'

/** A client that syncs a local folder with the files of a person. */
interface SyncClient {
  program: Program
  url: string
  email: string
  key: string
  /** The local folder. */
  local: string
  /** An own folder for the configuration of the client. */
  home: string
}

/** Begins one sync. */
function beginSync({ program, url, email, key, local, home }: SyncClient): ChildProcess {
  for (const folder of [home, local]) mkdirSync(folder, { recursive: true })
  // Debian installs the list of ignored names only with the desktop program.
  const ignored = join(home, 'ignored')
  writeFileSync(ignored, '')
  const where = program === 'nextcloudcmd' ? url : `${url}/`
  const args = ['--non-interactive', '--exclude', ignored, '-u', email, '-p', key, local, where]
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Waits for the end of a sync. */
function endOf(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', data => (output += data))
    child.on('error', reject)
    child.on('close', code => resolve({ code, output }))
  })
}

/** Runs one sync. @returns the output @throws Error if the client reports one */
export async function syncOnce(client: SyncClient): Promise<string> {
  const { code, output } = await endOf(beginSync(client))
  if (code !== 0) throw new Error(`${client.program}: ${code}\n${output.slice(-4000)}`)
  return output
}

/**
 * The files of the clients themselves in a folder: their state, and the beginnings of downloads,
 * which a killed client leaves behind and never uploads.
 */
const isClients = (name: string): boolean =>
  /^\._?sync|^\.owncloudsync|^\.sync_|\.log$|^\..*\.~[\da-f]+$/.test(name)

/**
 * The files below a local folder with their contents as Latin-1, and the folders, whose paths end
 * with a slash, with an empty text.
 */
export function localTree(local: string, path = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(join(local, path), { withFileTypes: true })) {
    if (isClients(entry.name)) continue
    const below = `${path}${entry.name}`
    if (!entry.isDirectory()) found.set(below, readFileSync(join(local, below), 'latin1'))
    else {
      found.set(`${below}/`, '')
      for (const [name, bytes] of localTree(local, `${below}/`)) found.set(name, bytes)
    }
  }
  return found
}

/** The requests in a log of the service, in which e-mail addresses are masked. */
export const requestsIn = (log: string): { method: string; path: string; status: number }[] =>
  log
    .split('\n')
    .filter(line => line.includes('"msg":"request"'))
    .map(line => JSON.parse(line))

/**
 * The number of requests of a sync without changes: status.php, which ownCloud's client does not
 * read; capabilities, the user, and the ETag of the root.
 */
export const QUIET = { nextcloudcmd: 4, owncloudcmd: 3 } as const
