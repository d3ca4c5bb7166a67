import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openDatabase } from '../../../db/index.ts'
import { readConfig } from '../../../src/config/config.ts'
import { launch, runBuilt, startBuilt } from '../../support/built-service.ts'
import { hasMariadb, type OwnMariadb, startMariadb } from '../../support/own-mariadb.ts'
import { mysqlLtsDir, startMysql } from '../../support/own-mysql.ts'
import { makeCa, type PrivateCa } from '../../support/private-ca.ts'

let ca: PrivateCa
let client: { cert: string; key: string }
let dir: string

beforeAll(() => {
  ca = makeCa()
  client = ca.issue('client')
  dir = mkdtempSync(join(tmpdir(), 'satchel-tls-'))
})

afterAll(() => {
  ca.remove()
  rmSync(dir, { recursive: true, force: true })
})

const servers: [string, boolean, (more: string[]) => Promise<OwnMariadb>][] = [
  ['MariaDB', hasMariadb, startMariadb],
  ['MySQL', mysqlLtsDir !== undefined, startMysql],
]

describe.each(servers.filter(([, isThere]) => isThere))(
  'A %s that requires TLS',
  (product, _isThere, start) => {
    let server: OwnMariadb
    /** The server's URL by name and by address. The certificate of each lacks the other. */
    let byName: string
    let byAddress: string

    beforeAll(async () => {
      const { cert, key } = ca.issue(product, ['DNS:localhost'])
      server = await start([
        '--require-secure-transport=ON',
        `--ssl-ca=${ca.file}`,
        `--ssl-cert=${cert}`,
        `--ssl-key=${key}`,
      ])
      byAddress = server.url
      byName = server.url.replace('127.0.0.1', 'localhost')
    })

    afterAll(() => server?.stop())

    /** The cipher of a connection, or the message of the error. */
    async function outcome(settings: Record<string, string>): Promise<string> {
      const db = openDatabase(readConfig(settings).database, { pool: 2 })
      try {
        const ask = () => db.row<{ Value: string }>("SHOW STATUS LIKE 'Ssl_cipher'")
        const [row] = await Promise.all([ask(), ask()])
        return row?.Value ?? ''
      } catch (error) {
        return String(error)
      } finally {
        await db.close()
      }
    }
    const verified = () => ({ DATABASE_TLS: 'verify-identity', DATABASE_CA_FILE: ca.file })

    it('accepts its certificate authority from the settings and from the URL', async () => {
      expect(await outcome({ DATABASE_URL: byName, ...verified() })).toMatch(/^TLS_|GCM/)
      const query = `?ssl-mode=VERIFY_IDENTITY&ssl-ca=${ca.file}`
      expect(await outcome({ DATABASE_URL: `${byName}${query}` })).toMatch(/^TLS_|GCM/)
    })

    it('refuses a connection without TLS', async () => {
      expect(await outcome({ DATABASE_URL: byName })).toMatch(/insecure transport|Access denied/)
    })

    it('is refused without its certificate authority', async () => {
      expect(await outcome({ DATABASE_URL: byName, DATABASE_TLS: 'verify-ca' })).toMatch(
        /unable to verify|certificate in certificate chain|issuer certificate/,
      )
    })

    it('is refused at an address missing in its certificate, unless told otherwise', async () => {
      const settings = { DATABASE_URL: byAddress, ...verified() }
      expect(await outcome(settings)).toContain("does not match certificate's altnames")
      expect(await outcome({ ...settings, DATABASE_TLS: 'verify-ca' })).toMatch(/^TLS_|GCM/)
    })

    it('receives a client certificate', async () => {
      await server.admin.query("CREATE USER IF NOT EXISTS certified@'%' REQUIRE X509")
      await server.admin.query("GRANT ALL ON satchel.* TO certified@'%'")
      const settings = { DATABASE_URL: byName.replace('satchel@', 'certified@'), ...verified() }
      expect(await outcome(settings)).toMatch(/Access denied/)
      const files = { DATABASE_CERT_FILE: client.cert, DATABASE_KEY_FILE: client.key }
      expect(await outcome({ ...settings, ...files })).toMatch(/^TLS_|GCM/)
    })

    it('serves the service, the doctor, the commands and the backups', async () => {
      const DATA_DIR = mkdtempSync(join(dir, 'data-'))
      const settings = { DATA_DIR, DATABASE_URL: byName, ...verified() }
      const service = await startBuilt(settings)
      try {
        expect(service.said()).toContain(`  Database   ${product} `)
        for (const [program, ...args] of [
          ['doctor.ts'],
          ['admin.ts', 'users'],
          ['admin.ts', 'backup', mkdtempSync(join(dir, 'backup-'))],
        ] as [string, ...string[]][]) {
          const child = launch(program, args, settings)
          const said = text(child.stderr as Readable)
          expect([program, ...args, (await once(child, 'exit'))[0], await said]).toEqual([
            program,
            ...args,
            0,
            expect.any(String),
          ])
        }
      } finally {
        await service.end('SIGTERM')
      }
    })

    it('is trusted by CA_FILE alone', async () => {
      const settings = { DATABASE_URL: byName, DATABASE_TLS: 'verify-identity' }
      const admin = async (more: Record<string, string>) => {
        const DATA_DIR = mkdtempSync(join(dir, 'data-'))
        return runBuilt('admin.ts', ['users'], { DATA_DIR, ...settings, ...more })
      }
      expect(await admin({ CA_FILE: ca.file })).toMatchObject({ code: 0 })
      const { code, err } = await admin({})
      expect(code).not.toBe(0)
      expect(err).toMatch(/certificate/)
    })

    it('prevents a start without TLS, and names the setting', async () => {
      const DATA_DIR = mkdtempSync(join(dir, 'data-'))
      const child = launch('main.ts', [], { DATA_DIR, DATABASE_URL: byName, PORT: '0' })
      expect(await text(child.stderr as Readable)).toContain('set DATABASE_TLS')
    })
  },
)

it('A database at an IP address is verified by the address in its certificate', async () => {
  if (!hasMariadb) return
  const { cert, key } = ca.issue('address', ['IP:127.0.0.1'])
  const server = await startMariadb([`--ssl-cert=${cert}`, `--ssl-key=${key}`])
  try {
    const { database } = readConfig({
      DATABASE_URL: server.url,
      DATABASE_TLS: 'verify-identity',
      DATABASE_CA_FILE: ca.file,
    })
    const db = openDatabase(database, { pool: 4 })
    await Promise.all([1, 2, 3, 4].map(() => db.ping()))
    await db.close()
  } finally {
    await server.stop()
  }
})
