import { existsSync } from 'node:fs'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'
import { productOf } from '../../db/product.ts'
import { missingForS3 } from '../stores/s3/radosgw.ts'
import { missingForGalera } from '../support/galera.ts'

/** Installed separately, because only the tests of the Azure store need it. */
const azurite = new URL('../azurite/node_modules/azurite/package.json', import.meta.url)

const mysqlLtsUrl = process.env.MYSQL_LTS_URL
const mysqlUrl = process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306'
const redisUrl = process.env.REDIS_URL || 'redis://127.0.0.1:6379'

async function productAt(uri) {
  const connection = await createConnection({ uri, connectTimeout: 2000 })
  try {
    const [[row]] = await connection.query('SELECT VERSION() AS version')
    return productOf(row.version)
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
 * Finds out which engines are available on this machine. With CI=true, a missing engine is an
 * error, because nothing may be skipped there. Sets TEST_MYSQL_URL and TEST_REDIS_URL for the tests
 * if the servers respond.
 */
export async function probeEngines() {
  const missing = []
  const said = ['SQLite', 'disk']
  const databases = ['sqlite']
  delete process.env.TEST_MYSQL_URL
  delete process.env.TEST_MYSQL_LTS_URL
  delete process.env.TEST_REDIS_URL
  try {
    said.push(await productAt(mysqlUrl))
    process.env.TEST_MYSQL_URL = mysqlUrl
    databases.push('mysql')
  } catch (error) {
    missing.push(`MySQL or MariaDB (${error.code ?? error.message}; set MYSQL_URL)`)
  }
  if (mysqlLtsUrl)
    try {
      said.push(await productAt(mysqlLtsUrl))
      process.env.TEST_MYSQL_LTS_URL = mysqlLtsUrl
      databases.push('mysql-lts')
    } catch (error) {
      missing.push(`MYSQL_LTS_URL (${error.code ?? error.message})`)
    }
  try {
    said.push(`Redis ${await redisVersion()}`)
    process.env.TEST_REDIS_URL = redisUrl
  } catch (error) {
    missing.push(`Redis (${error.code ?? error.message}; set REDIS_URL)`)
  }
  const hasAzurite = existsSync(azurite)
  if (hasAzurite) said.push('Azurite')
  else missing.push('Azurite (not installed; npm ci --prefix test/azurite)')
  if (missing.length > 0 && process.env.CI === 'true')
    throw new Error(`CI needs every engine; missing: ${missing.join(', ')}`)
  // These tests need programs that many machines lack.
  if (!mysqlLtsUrl) missing.push('a MySQL LTS (set MYSQL_LTS_URL; .ci/mysql-lts starts one)')
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
