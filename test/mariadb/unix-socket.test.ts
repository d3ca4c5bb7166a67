import { existsSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { openDatabase } from '../../db/index.ts'
import { readConfig } from '../../src/config/config.ts'
import { newDatabase } from '../support/harness.ts'

it('A database is reached by the Unix socket that its URL names', async () => {
  const database = await newDatabase()
  const open = (url: string) =>
    openDatabase(readConfig({ DATABASE_URL: url }).database, { pool: 1 })
  const byPort = open(database.url)
  try {
    const [server] = await byPort.rows<{ socket: string }>('SELECT @@socket AS socket')
    const socket = server?.socket ?? ''
    // The server may be in a container.
    if (!existsSync(socket)) return
    // Nothing listens at this port.
    const url = new URL(database.url)
    url.hostname = 'localhost'
    url.port = '1'
    url.searchParams.set('socketPath', socket)
    const bySocket = open(url.href)
    try {
      const found = await bySocket.rows('SELECT COUNT(*) AS count FROM plan')
      expect(found).toHaveLength(1)
    } finally {
      await bySocket.close()
    }
  } finally {
    await byPort.close()
    await database.drop()
  }
})
