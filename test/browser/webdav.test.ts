import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createClient, type FileStat, type WebDAVClient } from 'webdav'
import { openDatabase } from '../../db/index.ts'
import { privateScopes } from '../../src/access/scopes.ts'
import { readConfig } from '../../src/config/config.ts'
import { signInTo } from '../support/harness.ts'
import { type Service, startService } from './service.ts'

let service: Service
let client: WebDAVClient
beforeAll(async () => {
  service = await startService()
  const db = openDatabase(readConfig({ DATA_DIR: service.dataDir }).database, { pool: 1 })
  const alice = await signInTo(db, service.url, 'alice').finally(() => db.close())
  const { response } = await alice.rest('POST', '/api/api_keys/private/create', {
    json: { name: 'webdav', scopes: privateScopes },
  })
  const { key } = response.api_key
  client = createClient(`${service.url}/dav/files`, { username: alice.email, password: key })
})
afterAll(() => service.stop())

const text = (path: string) => client.getFileContents(path, { format: 'text' })

describe('npm webdav', () => {
  it('creates, lists, reads, copies, moves and deletes files and folders', async () => {
    await client.createDirectory('/a/b # ü', { recursive: true })
    expect(await client.putFileContents('/a/b # ü/one & 100%.txt', 'one')).toBe(true)
    expect(await client.putFileContents('/a/b # ü/one & 100%.txt', 'x', { overwrite: false })).toBe(
      false,
    )
    expect(await text('/a/b # ü/one & 100%.txt')).toBe('one')
    const listed = (await client.getDirectoryContents('/a/b # ü')) as FileStat[]
    expect(listed).toEqual([
      expect.objectContaining({ basename: 'one & 100%.txt', size: 3, type: 'file' }),
    ])
    await client.copyFile('/a/b # ü', '/a/copy')
    await client.moveFile('/a/copy/one & 100%.txt', '/a/moved.txt')
    expect(await text('/a/moved.txt')).toBe('one')
    await client.deleteFile('/a/copy')
    expect(await client.exists('/a/copy')).toBe(false)
    expect(await client.stat('/a')).toMatchObject({ type: 'directory', basename: 'a' })
  })

  it('releases the locks that it creates', async () => {
    await client.putFileContents('/locked.txt', 'one')
    const { token } = await client.lock('/locked.txt')
    await expect(client.putFileContents('/locked.txt', 'two')).rejects.toMatchObject({
      status: 423,
    })
    await client.unlock('/locked.txt', token)
    expect(await client.putFileContents('/locked.txt', 'two')).toBe(true)
  })
})
