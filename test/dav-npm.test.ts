import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createClient, type FileStat, type WebDAVClient } from 'webdav'
import { davPerson } from './dav-client.ts'
import { startApp, type TestApp } from './harness.ts'

let t: TestApp
let client: WebDAVClient
beforeAll(async () => {
  t = await startApp()
  const { person, key } = await davPerson(t)
  client = createClient(`${t.url}/dav/files`, { username: person.email, password: key.key })
})
afterAll(() => t.stop())

const text = (path: string) => client.getFileContents(path, { format: 'text' })

describe('npm webdav', () => {
  it('makes, lists, reads, copies, moves and deletes files and folders', async () => {
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

  it('ends the locks that it makes', async () => {
    await client.putFileContents('/locked.txt', 'one')
    const { token } = await client.lock('/locked.txt')
    await expect(client.putFileContents('/locked.txt', 'two')).rejects.toMatchObject({
      status: 423,
    })
    await client.unlock('/locked.txt', token)
    expect(await client.putFileContents('/locked.txt', 'two')).toBe(true)
  })
})
