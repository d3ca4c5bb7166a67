/**
 * Uploads one large file with tus-js-client, during kills of the service and broken connections,
 * and compares the stored file. Then uploads a file without interruptions to measure the rate: `npm
 * run bench:tus [-- GIBIBYTES [azure | s3]]`, by default 5, on SQLite and a folder. With another
 * store, runs on MySQL or MariaDB (MYSQL_URL, or the standard port of this machine), and Azurite or
 * radosgw. Needs twice as much space at TMPDIR, on disk or in memory.
 */
import { startAzurite } from '../stores/azure/azurite.ts'
import { startRadosgw } from '../stores/s3/radosgw.ts'
import { settingsFor } from '../stores/s3/server.ts'
import { newMysql } from '../support/mysql.ts'
import { drillTus, type TusDrill } from '../support/tus-drill.ts'

const [gibibytes = '5', kind = 'disk'] = process.argv.slice(2)
const GiB = 1024 ** 3
const size = Number(gibibytes) * GiB

interface Ground {
  /** The settings of a new store. */
  settings(name: string): Record<string, string>
  stop(): Promise<void>
}

async function openGround(): Promise<Ground> {
  if (kind === 'azure') {
    const { connectionString, stop } = await startAzurite()
    const account = { AZURE_STORAGE_CONNECTION_STRING: connectionString }
    return { settings: name => ({ ...account, AZURE_STORAGE_CONTAINER: name }), stop }
  }
  if (kind === 's3') {
    const server = await startRadosgw()
    return { settings: name => settingsFor(name, server), stop: () => server.stop() }
  }
  return { settings: () => ({}), stop: async () => {} }
}

const ground = await openGround()

async function drill(name: string, how: Pick<TusDrill, 'size' | 'breaks' | 'say'>) {
  const database =
    kind === 'disk'
      ? undefined
      : await newMysql(process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306')
  try {
    const on = database ? { DATABASE_URL: database.url } : {}
    return await drillTus({ ...how, settings: { ...ground.settings(name), ...on } })
  } finally {
    await database?.drop()
  }
}

try {
  const broken = await drill('broken', {
    size,
    breaks: ['cut', 'kill', 'cut', 'kill', 'cut', 'kill'],
    say: line => console.log(line),
  })
  const smooth = await drill('smooth', { size: Math.min(size, GiB), breaks: [] })
  const rate = (bytes: number, seconds: number) =>
    `${Math.round(bytes / seconds / 1024 ** 2)} MiB/s`
  console.log(
    `with 3 kills and 6 broken connections: ${broken.seconds.toFixed(1)} s, ${rate(size, broken.seconds)}`,
  )
  console.log(
    `  sent ${broken.sent.toFixed(3)} times the file; at most ${Math.round(broken.memory)} MiB of memory`,
  )
  console.log(
    `without: ${rate(Math.min(size, GiB), smooth.seconds)}; at most ${Math.round(smooth.memory)} MiB of memory`,
  )
} finally {
  await ground.stop()
}
