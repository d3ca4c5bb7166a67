import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'

let t: TestApp
let alice: Person
let shell: Shell

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  shell = openWarmShell({
    SATCHEL_URL: t.url,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  })
  await shell.json('workspace', 'create', 'Garden')
})
afterAll(async () => {
  shell?.close()
  await t.stop()
})

/** Runs the same commands on personal files and on workspace files. */
describe.each([
  ['your files', '/', ''],
  ['a workspace', 'garden:/', 'garden:'],
])('In %s', (_what, root, front) => {
  const local = (name: string) => join(shell.home, name)
  /** Stores a file with each of these contents in turn. */
  async function put(name: string, ...contents: string[]): Promise<void> {
    for (const content of contents) {
      writeFileSync(local(name), content)
      await shell.json('put', '--replace', name, '--to', `${root}docs`)
    }
  }
  const versionsOf = async (name: string) =>
    (await shell.json('versions', 'list', `${root}docs/${name}`)).versions
  const textOf = async (name: string) =>
    (await shell.satchel(['get', `${root}docs/${name}`, '-o', '-'])).out

  it('put replaces a file only with --replace, and skips equal files', async () => {
    await put('a.txt', 'one')
    writeFileSync(local('a.txt'), 'three')
    const refused = await shell.satchel(['put', 'a.txt', '--to', `${root}docs`])
    expect(refused.code).toBe(5)
    expect(refused.err).toContain('PATH_EXISTS')
    const { files } = await shell.json('put', '--replace', 'a.txt', '--to', `${root}docs`)
    expect(files).toMatchObject([{ path: `${root}docs/a.txt`, size: 5, status: 'uploaded' }])
    const again = await shell.json('put', '--replace', 'a.txt', '--to', `${root}docs`)
    expect(again.files).toMatchObject([{ status: 'unchanged' }])
    expect(await versionsOf('a.txt')).toMatchObject([{ size: 3 }])
    expect(await textOf('a.txt')).toBe('three')
  })

  it('put never lets two local files replace each other', async () => {
    for (const folder of ['left', 'right']) {
      mkdirSync(local(folder), { recursive: true })
      writeFileSync(local(`${folder}/twin.txt`), folder)
    }
    const said = await shell.satchel([
      'put',
      '--replace',
      'left/twin.txt',
      'right/twin.txt',
      '--to',
      `${root}docs`,
    ])
    expect([said.code, said.err]).toEqual([
      2,
      expect.stringContaining('would both become "twin.txt"'),
    ])
    expect((await shell.satchel(['get', `${root}docs/twin.txt`, '-o', '-'])).code).toBe(4)
  })

  it('put replaces a file by multipart uploads, and by standard input', async () => {
    await put('large.bin', 'small')
    writeFileSync(local('large.bin'), Buffer.alloc(9 * 1024 * 1024, 7))
    await shell.json('put', '--replace', 'large.bin', '--to', `${root}docs`)
    expect(await versionsOf('large.bin')).toMatchObject([{ size: 5 }])
    await shell.satchel(['put', '-', '--name', 'large.bin', '--replace', '--to', `${root}docs`], {
      stdin: 'streamed',
    })
    expect((await versionsOf('large.bin')).map(({ size }: { size: number }) => size)).toEqual([
      9 * 1024 * 1024,
      5,
    ])
  })

  it('put --keep-both stores one copy beside a folder of its name, however often it runs', async () => {
    await shell.satchel(['mkdir', '-p', `${root}beside/a.txt`])
    writeFileSync(local('a.txt'), 'one')
    const keep = async () =>
      (await shell.json('put', '--keep-both', '--to', `${root}beside`, 'a.txt')).files
    expect(await keep()).toMatchObject([{ path: `${root}beside/a (2).txt`, status: 'uploaded' }])
    expect(await keep()).toMatchObject([{ path: `${root}beside/a (2).txt`, status: 'unchanged' }])
  })

  it('put --keep-both stores a copy beside a different file of any size, and skips equal files', async () => {
    const keep = async (...args: string[]) =>
      (await shell.json('put', '--keep-both', '--to', `${root}kept`, ...args)).files.map(
        ({ path, status }: { path: string; status: string }) =>
          `${path.slice(`${root}kept/`.length)} ${status}`,
      )
    mkdirSync(local('many'), { recursive: true })
    for (const [small, large] of [
      ['one', 7],
      ['three', 8],
    ] as const) {
      writeFileSync(local('a.txt'), small)
      writeFileSync(local('many/in.txt'), small)
      writeFileSync(local('large.bin'), Buffer.alloc(9 * 1024 * 1024, large))
      await keep('a.txt', 'many', 'large.bin')
    }
    expect(await keep('a.txt', 'many', 'large.bin')).toEqual(
      expect.arrayContaining([
        'a (2).txt unchanged',
        'many/in (2).txt unchanged',
        'large (2).bin unchanged',
      ]),
    )
    const piped = ['put', '-', '--name', 'a.txt', '--keep-both', '--to', `${root}kept`, '--json']
    for (const [stdin, name] of [
      ['piped', 'a (3).txt'],
      [Buffer.alloc(9 * 1024 * 1024, 9), 'a (4).txt'],
    ] as const)
      expect(JSON.parse((await shell.satchel(piped, { stdin })).out).files[0].path).toBe(
        `${root}kept/${name}`,
      )
    const names = async (path: string) =>
      (await shell.json('ls', `${root}kept${path}`)).files.map(({ name }: { name: string }) => name)
    expect(await names('')).toEqual([
      ...['a (2).txt', 'a (3).txt', 'a (4).txt', 'a.txt'],
      ...['large (2).bin', 'large.bin'],
    ])
    expect(await names('/many')).toEqual(['in (2).txt', 'in.txt'])
    const read = await shell.satchel(['get', `${root}kept/a.txt`, '-o', '-'])
    expect(read.out).toBe('one')
    const both = await shell.satchel(['put', '--keep-both', '--replace', 'a.txt'])
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('cannot be used with')])
  })

  it('versions list shows versions, newest first', async () => {
    await put('list.txt', '1', '22', '333')
    expect(await versionsOf('list.txt')).toEqual([
      expect.objectContaining({
        id: anId,
        size: 2,
        created_by: alice.email,
        replaced_at: aTime,
        expires_at: aTime,
      }),
      expect.objectContaining({ size: 1, created_at: aTime }),
    ])
    const { out } = await shell.satchel(['versions', 'list', `${root}docs/list.txt`])
    const [head, ...rows] = out.trim().split('\n')
    expect(head).toMatch(/^MADE +BY +SIZE +REPLACED +UNTIL +ID$/)
    expect(rows).toHaveLength(2)
    expect((await shell.satchel(['versions', 'list', `${root}docs/none.txt`])).code).toBe(4)
    expect((await shell.satchel(['versions', 'list', `${root}docs`])).code).toBe(4)
  })

  it('versions get, restore and delete take their ids', async () => {
    await put('b.txt', 'one', 'three')
    const [{ id }] = await versionsOf('b.txt')
    const got = await shell.json('versions', 'get', `${front}${id}`, '-o', 'old.txt')
    expect(got.files).toMatchObject([{ source: `${root}docs/b.txt`, path: 'old.txt', size: 3 }])
    expect(readFileSync(local('old.txt'), 'utf8')).toBe('one')
    expect((await shell.satchel(['versions', 'get', `${front}${id}`])).code).toBe(5)
    expect((await shell.satchel(['versions', 'get', '-f', `${front}${id}`])).code).toBe(0)
    expect(readFileSync(local('b.txt'), 'utf8')).toBe('one')
    expect(await shell.json('versions', 'restore', `${front}${id}`)).toEqual({
      restored: [{ id, path: `${root}docs/b.txt` }],
    })
    expect(await textOf('b.txt')).toBe('one')
    const [after] = await versionsOf('b.txt')
    expect(await shell.json('versions', 'delete', `${front}${after.id}`)).toEqual({
      deleted: [{ id: after.id }],
    })
    expect(await versionsOf('b.txt')).toEqual([])
    for (const verb of ['get', 'restore', 'delete']) {
      expect((await shell.satchel(['versions', verb, `${front}${id}`])).code).toBe(4)
      expect((await shell.satchel(['versions', verb, `${root}docs/b.txt`])).code).toBe(2)
    }
  })
})
