import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Connection, createConnection } from 'mysql2/promise'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

/** A separate MariaDB server, so that global settings disturb no other test. */
export interface OwnMariadb {
  /** The URL of a new database, for a user without the privileges that bypass read_only. */
  url: string
  /** The same as the administrator. */
  admin: Connection
  stop(): Promise<void>
}

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
const find = (program: string) => folders.map(folder => join(folder, program)).find(existsSync)

export const hasMariadb = find('mariadbd') !== undefined

export async function startMariadb(more: string[] = []): Promise<OwnMariadb> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-mariadb-'))
  const run = (program: string, ...args: string[]): ChildProcess =>
    spawn(
      find(program) ?? program,
      ['--no-defaults', `--user=${userInfo().username}`, `--datadir=${dir}/db`, ...args],
      {
        stdio: 'ignore',
      },
    )
  const install = run(
    'mariadb-install-db',
    '--skip-test-db',
    '--auth-root-authentication-method=normal',
  )
  const [code] = await once(install, 'exit')
  if (code !== 0) throw new Error(`mariadb-install-db ended with ${code}`)
  const port = await freePort()
  const server = run(
    'mariadbd',
    `--socket=${dir}/socket`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    ...more,
  )
  const admin = await until<Connection | undefined>(
    () => createConnection({ user: 'root', socketPath: `${dir}/socket` }).catch(() => undefined),
    60_000,
  )
  await admin.query('CREATE DATABASE satchel')
  await admin.query('CREATE USER satchel@127.0.0.1')
  await admin.query('GRANT ALL ON satchel.* TO satchel@127.0.0.1')
  return {
    url: `mysql://satchel@127.0.0.1:${port}/satchel`,
    admin,
    async stop() {
      const gone = once(server, 'exit')
      admin.destroy()
      server.kill('SIGKILL')
      await gone
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
