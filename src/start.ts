import { type Config, StartError } from './config/config.ts'
import { causesOf } from './runtime/errors.ts'
import { storeProblem } from './storage/open.ts'

/** A requirement of the service. */
type Part = 'folder' | 'blobs' | 'database' | 'address' | 'metrics'

interface Failure {
  config: Config
  /** The original error. */
  reason: string
  code: string | undefined
}

/** The remedy for a part that fails: the setting to check, and a sentence. */
const problems: Record<Part, (failure: Failure) => string> = {
  folder: ({ config, reason, code }) =>
    code === undefined
      ? `DATA_DIR: ${reason}.`
      : `DATA_DIR: ${config.dataDir} cannot be used (${reason}). Let the user that runs Satchel write there, or set another folder.`,

  blobs: ({ config, reason, code }) => storeProblem(config, reason, code),

  database({ config: { database }, reason, code }) {
    const place =
      database.dialect === 'sqlite'
        ? `file ${database.file}`
        : `database at ${new URL(database.url).host}`
    const said = `DATABASE_URL: the ${place} cannot be used (${reason}).`
    if (code === 'OTHER_VERSION')
      return `${said} Start the version that it belongs to or a later one, or name another database.`
    if (code === 'UNFINISHED_RESTORE')
      return `${said} Run "npm run admin -- restore-backup" again: it continues. Or delete this database.`
    if (database.dialect === 'sqlite')
      return `${said} Let the user that runs Satchel write it and its folder, or name another file.`
    const remedy = databaseTlsRemedy(code, reason)
    if (remedy) return `${said} ${remedy}`
    // Some versions of MariaDB refuse a connection without TLS like a wrong password.
    const orTls = database.tls ? '' : ' If the server requires TLS, set DATABASE_TLS.'
    const other = code?.includes('ACCESS_DENIED')
      ? `Correct user and password, or grant this user all rights on it.${orTls}`
      : code === 'ER_BAD_DB_ERROR'
        ? 'Create this database, or name another one.'
        : 'Start it, or correct its address.'
    return `${said} ${other}`
  },

  metrics({ config: { metrics }, reason, code }) {
    if (code === 'EADDRINUSE')
      return `METRICS_PORT: another program listens on port ${metrics?.port}. Set another port.`
    if (code === 'EACCES')
      return `METRICS_PORT: this user may not listen on port ${metrics?.port}. Set a port from 1024 on.`
    return `METRICS_HOST: this machine does not listen on ${metrics?.host} (${reason}). Set an address of this machine.`
  },

  address({ config: { host, port }, reason, code }) {
    if (code === 'EADDRINUSE')
      return `PORT: another program listens on port ${port}. Stop it, or set another port.`
    if (code === 'EACCES')
      return `PORT: this user may not listen on port ${port}. Set a port from 1024 on.`
    return `HOST: this machine does not listen on ${host} (${reason}). Set an address of this machine.`
  },
}

/** The remedy for a TLS error of the database. Undefined for other errors. */
function databaseTlsRemedy(code = '', reason = ''): string | undefined {
  if (code === 'ER_SECURE_TRANSPORT_REQUIRED')
    return 'The server requires TLS: set DATABASE_TLS=verify-identity.'
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT')
    return 'DATABASE_TLS requires TLS, which the server does not offer.'
  if (code !== 'HANDSHAKE_SSL_ERROR') return undefined
  if (reason.includes('altnames'))
    return 'Name the server as its certificate does, or set DATABASE_TLS=verify-ca.'
  return 'Set DATABASE_CA_FILE to the certificate authority of the server.'
}

/**
 * Prepares a part.
 * @throws StartError that says what to do about a failure
 */
export async function ready<T>(part: Part, config: Config, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new StartError([problems[part]({ config, ...innermost(error) })], { cause: error })
  }
}

/**
 * Waits for parts that are prepared in parallel.
 * @throws StartError that lists all failures, after everything has ended, so that no tables are
 * left half created
 */
export async function allReady(parts: Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(parts)
  const errors = outcomes.flatMap((part): unknown[] =>
    part.status === 'rejected' ? [part.reason] : [],
  )
  if (errors.length === 0) return
  const said = errors.flatMap(error => {
    if (error instanceof StartError) return error.problems
    throw error
  })
  throw new StartError(said, { cause: errors[0] })
}

/** The innermost cause. */
function innermost(error: unknown): { reason: string; code: string | undefined } {
  const { message, code } = [...causesOf(error)].at(-1) ?? {}
  const reason = String(message || code || error).replace(/[.\s]+$/, '')
  return { reason, code: typeof code === 'string' ? code : undefined }
}
