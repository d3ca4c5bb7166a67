import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Connection, createConnection } from 'mysql2/promise'
import { freePort } from './free-port.ts'
import type { OwnMariadb } from './own-mariadb.ts'
import { until } from './until.ts'

/** The MySQL LTS that `.ci/mysql-lts fetch` has downloaded. Undefined without one. */
export const mysqlLtsDir: string | undefined = process.env.MYSQL_LTS_DIR || undefined

/** A separate MySQL LTS server, like `startMariadb`. */
export async function startMysql(more: string[] = []): Promise<OwnMariadb> {
  const dir = mkdtempSync(join(tmpdir(), 'satchel-mysql-'))
  const port = await freePort()
  const server = spawn(
    resolve('.ci', 'mysql-lts'),
    ['run', mysqlLtsDir ?? '', `${dir}/db`, String(port), ...more],
    { stdio: 'ignore' },
  )
  const admin = await until<Connection | undefined>(
    () => createConnection({ user: 'root', socketPath: `${dir}/db.sock` }).catch(() => undefined),
    60_000,
  )
  await admin.query('CREATE DATABASE satchel')
  await admin.query("CREATE USER satchel@'%'")
  await admin.query("GRANT ALL ON satchel.* TO satchel@'%'")
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
