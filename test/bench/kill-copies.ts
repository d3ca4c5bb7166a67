/**
 * Kills and restarts the service at random moments during a mix of copies, purges and deletions,
 * and finally checks all counts: `npm run bench:kill-copies`. Options: --engine sqlite|mysql (both
 * by default), --kills 200.
 */
import { parseArgs } from 'node:util'
import { killCopies } from '../support/kill-copies.ts'
import { newMysql } from '../support/mysql.ts'
import { openSite } from '../support/upload-site.ts'

const { values } = parseArgs({
  options: { engine: { type: 'string' }, kills: { type: 'string', default: '200' } },
})

async function drill(title: string, databaseUrl: string): Promise<void> {
  const site = await openSite({ databaseUrl }, { TRASH_DAYS: '0', LOG_LEVEL: 'error' })
  const say = (line: string) => process.stdout.write(`${title}: ${line}\n`)
  say(JSON.stringify(await killCopies({ site, kills: Number(values.kills), say })))
  await site.close()
}

const engines: Record<string, () => Promise<void>> = {
  sqlite: () => drill('disk + SQLite', ''),
  async mysql() {
    const { url, drop } = await newMysql(process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306')
    try {
      await drill('disk + MariaDB, two instances', url)
    } finally {
      await drop()
    }
  },
}
for (const [name, run] of Object.entries(engines))
  if (!values.engine || values.engine === name) await run()
