import { existsSync } from 'node:fs'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'
import { missingForGalera } from './galera.ts'
import { missingForS3 } from './s3/radosgw.ts'

/** Installed apart, because no one but the tests of the Azure store needs it. */
const azurite = new URL('./azurite/node_modules/azurite/package.json', import.meta.url)

const mysqlUrl = process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306'
const redisUrl = process.env.REDIS_URL || 'redis://127.0.0.1:6379'

async function mysqlVersion() {
  const connection = await createConnection({ uri: mysqlUrl, connectTimeout: 2000 })
  try {
    const [[row]] = await connection.query('SELECT VERSION() AS version')
    return row.version
  } finally {
    await connection.end()
  }
}

async function redisVersion() {
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: 2000,
    retryStrategy: null,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1]
  } finally {
    redis.disconnect()
  }
}

/**
 * Which engines answer on this machine. With CI=true a missing one is an error: nothing is skipped
 * there. Leaves TEST_MYSQL_URL and TEST_REDIS_URL in the environment of the tests for those that
 * answer.
 */
export async function probeEngines() {
  const missing = []
  const said = ['SQLite', 'disk']
  const databases = ['sqlite']
  delete process.env.TEST_MYSQL_URL
  delete process.env.TEST_REDIS_URL
  try {
    said.push(`MySQL (${await mysqlVersion()})`)
    process.env.TEST_MYSQL_URL = mysqlUrl
    databases.push('mysql')
  } catch (error) {
    missing.push(`MySQL (${error.code ?? error.message}; set MYSQL_URL)`)
  }
  try {
    said.push(`Redis (${await redisVersion()})`)
    process.env.TEST_REDIS_URL = redisUrl
  } catch (error) {
    missing.push(`Redis (${error.code ?? error.message}; set REDIS_URL)`)
  }
  const hasAzurite = existsSync(azurite)
  if (hasAzurite) said.push('Azurite')
  else missing.push('Azurite (not installed; npm ci --prefix test/azurite)')
  if (missing.length > 0 && process.env.CI === 'true')
    throw new Error(`CI needs every engine; missing: ${missing.join(', ')}`)
  // Of servers of their own, which few machines can start.
  if (missingForS3.length === 0) said.push('S3 (radosgw)')
  else missing.push(`S3 (without ${missingForS3.join(', ')}; Debian: radosgw, ceph-mon, ceph-osd)`)
  if (missingForGalera.length === 0) said.push('Galera')
  else missing.push(`Galera (without ${missingForGalera.join(', ')})`)
  return {
    databases,
    azurite: hasAzurite,
    s3: missingForS3.length === 0,
    said: `Engines: ${said.join(', ')}.${missing.length > 0 ? ` NOT TESTED, did not answer: ${missing.join(', ')}.` : ''}`,
  }
}
