import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ended, openWarmShell, type Shell } from '../../support/command-line.ts'
import { type FlakyProxy, startFlakyProxy } from '../../support/flaky-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import { type Person, signInTo, startApp, type TestApp } from '../../support/harness.ts'
import { readZip } from '../../support/zip-reader.ts'

const MiB = 1024 * 1024

let t: TestApp
let alice: Person
let shell: Shell
/** The direct address of the service, which bypasses the proxy. */
let service: string

/** The proxy between the command and the bytes of the store. */
let wire: FlakyProxy

beforeAll(async () => {
  const port = await freePort()
  service = `http://127.0.0.1:${port}`
  wire = await startFlakyProxy({ host: '127.0.0.1', port })
  // Signed addresses lead through the proxy. All other requests go to the service directly.
  t = await startApp({ PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${wire.port}` })
  alice = await signInTo(t.app.db, service, 'alice')
  const { response } = await alice.rest('POST', '/api/workspaces/create', {
    json: { name: 'Garden' },
  })
  expect(response.workspace.slug).toBe('garden')
})
afterAll(async () => {
  await t.stop()
  await wire.close()
})

beforeEach(() => {
  shell = openWarmShell({
    SATCHEL_URL: service,
    SATCHEL_SESSION: alice.cookie.replace('session_id=', ''),
  })
})
afterEach(async () => {
  await wire.heal()
  shell.close()
})

/** Creates files below the home. Returns their bytes by path. */
function write(files: Record<string, string | Uint8Array>): void {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(shell.home, dirname(path)), { recursive: true })
    writeFileSync(join(shell.home, path), bytes)
  }
}

const read = (path: string): Buffer => readFileSync(join(shell.home, path))
const md5 = (bytes: string | Uint8Array) => createHash('md5').update(bytes).digest('hex')

/** Every path below a folder; folders end with a slash. */
function all(folder: string): string[] {
  const path = join(shell.home, folder)
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .map(
      entry =>
        join(entry.parentPath, entry.name).slice(path.length + 1) +
        (entry.isDirectory() ? '/' : ''),
    )
    .sort()
}

const box = () => `box-${randomBytes(4).toString('hex')}`

describe('satchel get', () => {
  it('follows no symbolic link in the target folder', async () => {
    const at = (path: string) => join(shell.home, path)
    for (const path of ['linked/sub/f.txt', 'linked/g.txt', 'linked/empty/deep/h.txt'])
      await alice.upload(path, 'new')
    mkdirSync(at('to/linked/empty'), { recursive: true })
    mkdirSync(at('elsewhere'))
    symlinkSync('../../elsewhere', at('to/linked/sub'))
    symlinkSync('../../../elsewhere', at('to/linked/empty/deep'))
    const { code } = await shell.satchel(['get', 'linked', '-o', 'to', '--force'])
    expect(code).not.toBe(0)
    expect(readdirSync(at('elsewhere'))).toEqual([])
    expect(readFileSync(at('to/linked/g.txt'), 'utf8')).toBe('new')
    // The target folder itself may be a link.
    symlinkSync('elsewhere', at('through'))
    expect((await shell.satchel(['get', 'linked/g.txt', '-o', 'through'])).code).toBe(0)
    expect(readdirSync(at('elsewhere'))).toEqual(['g.txt'])
  })
})

describe('satchel put', () => {
  it('uploads files, and shows their paths and checksums', async () => {
    const to = box()
    write({ 'a.txt': 'hello', 'b.bin': '' })
    expect((await shell.satchel(['put', 'a.txt', '--to', to])).out).toBe(`/${to}/a.txt\n`)
    expect(await shell.json('put', 'a.txt', 'b.bin', '--to', `${to}/sub`)).toEqual({
      files: expect.arrayContaining([
        {
          source: 'a.txt',
          path: `/${to}/sub/a.txt`,
          size: 5,
          md5_checksum: md5('hello'),
          status: 'uploaded',
        },
        {
          source: 'b.bin',
          path: `/${to}/sub/b.bin`,
          size: 0,
          md5_checksum: md5(''),
          status: 'uploaded',
        },
      ]),
    })
    expect(
      (await shell.json('put', 'a.txt', '-t', `garden:/${to}`, '--name', 'c.txt')).files[0].path,
    ).toBe(`garden:/${to}/c.txt`)
    const { files } = await shell.json('ls', to)
    expect(files[0].file_type).toBe('text/plain')
  })

  it('with -v prints a line for every file without a terminal, and prints none otherwise', async () => {
    write({ 'd/a.txt': 'a', 'd/b.txt': 'bb' })
    const { out, err } = await shell.satchel(['put', '-v', 'd', '--to', box()])
    expect([out, err.split('\n').sort()]).toEqual([
      '',
      [
        '',
        expect.stringMatching(/^d\/a\.txt -> \/box-\w+\/d\/a\.txt \(1 B\)$/),
        expect.stringMatching(/^d\/b/),
      ],
    ])
    const quiet = await shell.satchel(['put', 'd', '--to', box()])
    expect(quiet).toEqual({ code: 0, out: expect.stringMatching(/^2 files \(3 B\)\n$/), err: '' })
  })

  it('shows a progress bar with the rate on a terminal', async () => {
    write({ 'a.bin': randomBytes(MiB) })
    const { program } = await import('../../support/command-line.ts')
    const { spawn } = await import('node:child_process')
    const command = `${process.execPath} ${program} put a.bin --to ${box()}`
    const { out } = await ended(
      spawn('script', ['-qec', command, '/dev/null'], {
        cwd: shell.home,
        env: { ...shell.env, TERM: 'xterm' },
      }),
    )
    expect(out).toMatch(/100% · 1 MiB of 1 MiB · [\d.]+ [KM]?i?B\/s/)
  })

  it('uploads folders with all their contents, keeping names', async () => {
    const to = box()
    const names = [
      '-dash',
      'with  blank',
      'ünï 🦊',
      'it\'s "odd" %22',
      '.hidden',
      'a:b',
      '$HOME',
      '*',
    ]
    write(Object.fromEntries(names.map(name => [`top/inner/${name}`, name])))
    mkdirSync(join(shell.home, 'top/empty/er'), { recursive: true })
    await shell.json('put', '--to', to, 'top')
    const { files } = await shell.json('ls', `${to}/top/inner`)
    expect(files.map((f: { name: string }) => f.name).sort()).toEqual([...names].sort())
    expect((await shell.json('ls', `${to}/top/empty`)).folders).toHaveLength(1)

    await shell.json('get', to, '-o', 'back')
    expect(all(`back/${to}`)).toEqual(
      all('.').filter(path => path.startsWith('top/') || path === 'top/'),
    )
    for (const name of names) expect(read(`back/${to}/top/inner/${name}`).toString()).toBe(name)
  })

  it('a folder can be renamed, and can be the working folder', async () => {
    const to = box()
    write({ 'here/a.txt': 'a' })
    const { out } = await shell.satchel(['put', '.', '--to', to, '--json'], {
      cwd: join(shell.home, 'here'),
    })
    expect(JSON.parse(out).files).toMatchObject([{ path: `/${to}/here/a.txt` }])
    await shell.json('put', 'here', '--to', to, '--name', 'there')
    expect((await shell.json('ls', to)).folders).toMatchObject([
      { name: 'here' },
      { name: 'there' },
    ])
    expect(await shell.refused('put', '/', '--to', to)).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
  })

  it('skips files that exist already, and refuses a name taken by other bytes', async () => {
    const to = box()
    write({ 'd/a.txt': 'hello', 'd/b.txt': 'bee' })
    await shell.json('put', 'd', '--to', to)
    await t.settle()
    const staged = t.statements().length
    expect(staged).toBeGreaterThan(0)
    write({ 'd/c.txt': 'sea' })
    const again = await shell.json('put', 'd', '--to', to)
    expect(
      again.files.map((f: { status: string; source: string }) => [f.source, f.status]).sort(),
    ).toEqual([
      ['d/a.txt', 'unchanged'],
      ['d/b.txt', 'unchanged'],
      ['d/c.txt', 'uploaded'],
    ])
    expect(t.statements().filter(sql => /^INSERT INTO entry/.test(sql))).toHaveLength(1)

    write({ 'd/a.txt': 'HELLO', 'd/e.txt': 'e' })
    const { code, out, err } = await shell.satchel(['put', 'd', '--to', to, '--json'])
    expect([code, JSON.parse(err).error.code]).toEqual([5, 'PARTLY_FAILED'])
    expect(JSON.parse(out).files).toHaveLength(3)
    expect(JSON.parse(out).failed).toEqual([
      expect.objectContaining({ code: 'PATH_EXISTS', source: 'd/a.txt', path: `/${to}/d/a.txt` }),
    ])
    expect(await shell.refused('put', 'd/a.txt', '--to', `${to}/d`)).toMatchObject({
      code: 5,
      error: { code: 'PATH_EXISTS' },
    })
  })

  it('skips symbolic links in folders unless told to follow them, and never loops', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'elsewhere/b.txt': 'b' })
    symlinkSync('../elsewhere', join(shell.home, 'd/folder'))
    symlinkSync('a.txt', join(shell.home, 'd/file'))
    symlinkSync('..', join(shell.home, 'd/up'))
    symlinkSync('nowhere', join(shell.home, 'd/broken'))
    const { code, err } = await shell.satchel(['put', 'd', '--to', to])
    expect([code, err.trim().split('\n')]).toEqual([
      0,
      expect.arrayContaining([expect.stringMatching(/^d\/up is a symbolic link; it was skipped/)]),
    ])
    expect((await shell.json('ls', `${to}/d`)).files).toHaveLength(1)

    const followed = await shell.satchel(['put', '--follow', 'd', '--to', `${to}/f`, '--json'])
    const { files, failed } = JSON.parse(followed.out)
    expect([followed.code, failed]).toEqual([
      1,
      [expect.objectContaining({ source: 'd/broken', system_code: 'ENOENT' })],
    ])
    const sources = files.map((f: { source: string }) => f.source)
    expect(sources).toEqual(
      expect.arrayContaining(['d/a.txt', 'd/file', 'd/folder/b.txt', 'd/up/elsewhere/b.txt']),
    )
    expect(sources.filter((s: string) => s.startsWith('d/up/d'))).toEqual([])
    // A link named as an argument is followed.
    expect((await shell.json('put', 'd/file', '--to', `${to}/g`)).files).toMatchObject([
      { path: `/${to}/g/file`, size: 1 },
    ])
  })

  it('skips and reports unreadable files', async () => {
    const to = box()
    write({ 'd/a.txt': 'a', 'd/secret.txt': 's', 'd/closed/x': 'x' })
    chmodSync(join(shell.home, 'd/secret.txt'), 0)
    chmodSync(join(shell.home, 'd/closed'), 0)
    const { code, out } = await asNobody(['put', 'd', '--to', to, '--json'])
    chmodSync(join(shell.home, 'd/closed'), 0o755)
    const { files, failed } = JSON.parse(out)
    expect([code, files.length]).toEqual([1, 1])
    expect(failed.map((f: { source: string; code: string }) => [f.source, f.code]).sort()).toEqual([
      ['d/closed', 'LOCAL_FILE'],
      ['d/secret.txt', 'LOCAL_FILE'],
    ])
    expect(await shell.refused('put', 'nowhere.txt')).toMatchObject({
      code: 1,
      error: {
        code: 'LOCAL_FILE',
        message: 'nowhere.txt: There is no such file or folder.',
        system_code: 'ENOENT',
      },
    })
  })

  it('skips names that the service refuses', async () => {
    write({ 'd/a.txt': 'a', 'd/back\\slash': 'b', 'd/trailing ': 'c' })
    const { code, out } = await shell.satchel(['put', 'd', '--to', box(), '--json'])
    const { files, failed } = JSON.parse(out)
    expect([code, files.length, failed.map((f: { code: string }) => f.code)]).toEqual([
      2,
      1,
      ['INVALID_PATH', 'INVALID_PATH'],
    ])
  })

  it('stops at the quota', async () => {
    write({ 'd/a.txt': 'a', 'd/b.txt': 'b', 'd/c.txt': 'c' })
    await t.limit({ maxFiles: 1 })
    const { code, err } = await shell.satchel(['put', 'd', '--to', box(), '--json'])
    await t.limit({ maxFiles: 10_000 })
    expect([code, JSON.parse(err).error.code]).toEqual([6, 'QUOTA_EXCEEDED'])
  })

  it('uploads hundreds of small files', async () => {
    const to = box()
    write(
      Object.fromEntries(
        Array.from({ length: 400 }, (_, n) => [`d/${n % 30}/${n}.txt`, String(n)]),
      ),
    )
    const { out } = await shell.satchel(['put', 'd', '--to', to, '--parallel', '16'])
    expect(out).toMatch(/^400 files \(/)
    const { files } = await shell.json('get', `${to}/d`, '-o', 'back', '--parallel', '16')
    expect(files).toHaveLength(400)
    expect(all('back/d')).toEqual(all('d'))
    for (const n of [0, 177, 399])
      expect(read(`back/d/${n % 30}/${n}.txt`).toString()).toBe(String(n))
  })

  describe('from standard input', () => {
    it.each([0, 5, 8 * MiB, 8 * MiB + 1, 20 * MiB])('%i bytes', async size => {
      const bytes = randomBytes(size)
      const to = box()
      const child = shell.begin(['put', '-', '--name', 'in.bin', '--to', to, '--json'])
      child.stdin.end(bytes)
      const { code, out } = await ended(child)
      expect([code, JSON.parse(out).files]).toEqual([
        0,
        [
          {
            source: '-',
            path: `/${to}/in.bin`,
            size,
            md5_checksum: md5(bytes),
            status: 'uploaded',
          },
        ],
      ])
      expect((await shell.json('ls', `${to}/in.bin`)).files[0].md5_checksum).toBe(md5(bytes))
    })

    it('of any length uses no more memory', async () => {
      const to = box()
      const child = shell.begin(['put', '-', '--name', 'long', '--to', to])
      const end = ended(child)
      const most = () =>
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
      const piece = Buffer.alloc(MiB, 7)
      for (let sent = 0; sent < 300; sent++)
        if (!child.stdin.write(piece)) await once(child.stdin, 'drain')
      expect(most()).toBeLessThan(250)
      child.stdin.end()
      expect(await end).toMatchObject({ code: 0 })
    })

    it('requires a name, and a single source', async () => {
      write({ 'a.txt': 'a' })
      for (const args of [['-'], ['-', 'a.txt', '--name', 'x']])
        expect(await shell.refused('put', ...args)).toMatchObject({
          code: 2,
          error: { code: 'USAGE' },
        })
      expect(await shell.refused('put', '/dev/null')).toMatchObject({
        code: 1,
        error: { code: 'LOCAL_FILE' },
      })
    })
  })
})

describe('satchel get', () => {
  it('downloads a file here, under another name, into a folder, or to standard output', async () => {
    const from = box()
    await alice.upload(`${from}/a.txt`, 'hello')
    expect((await shell.satchel(['get', `${from}/a.txt`])).out).toBe('a.txt\n')
    expect(await shell.json('get', `${from}/a.txt`, '-o', 'b.txt')).toEqual({
      files: [
        {
          source: `/${from}/a.txt`,
          path: 'b.txt',
          size: 5,
          md5_checksum: md5('hello'),
          status: 'downloaded',
        },
      ],
    })
    await shell.json('get', `${from}/a.txt`, '-o', 'new/')
    expect((await shell.satchel(['get', `${from}/a.txt`, '-o', '-'])).out).toBe('hello')
    expect(all('.').filter(path => !path.startsWith('config'))).toEqual([
      'a.txt',
      'b.txt',
      'new/',
      'new/a.txt',
    ])
  })

  it('keeps local files: the same bytes succeed, other bytes conflict', async () => {
    const from = box()
    await alice.upload(`${from}/a.txt`, 'hello')
    write({ 'a.txt': 'hello', 'd/a.txt': 'other', 'e/a.txt/x': '' })
    expect((await shell.json('get', `${from}/a.txt`)).files).toMatchObject([
      { status: 'unchanged' },
    ])
    for (const more of [[], ['--force']])
      expect(await shell.refused('get', `${from}/a.txt`, '-o', 'e', ...more)).toMatchObject({
        code: 5,
        error: { code: 'TARGET_EXISTS' },
      })
    expect(await shell.refused('get', `${from}/a.txt`, '-o', 'd')).toMatchObject({
      code: 5,
      error: { path: 'd/a.txt' },
    })
    expect(read('d/a.txt').toString()).toBe('other')
    await shell.json('get', `${from}/a.txt`, '-o', 'd', '--force')
    expect(read('d/a.txt').toString()).toBe('hello')
    expect(all('d')).toEqual(['a.txt'])
  })

  it.each<[number, string, string[]]>([
    [4, 'NOT_FOUND', ['nowhere']],
    [4, 'NOT_FOUND', ['garden:/nowhere']],
    [2, 'USAGE', ['/', '-o', '-']],
    [2, 'USAGE', ['https://example.com/x']],
  ])('exits with %i %s for %j', async (exit, code, args) => {
    if (args[0] === '/') {
      await alice.rest('POST', '/api/folders', { json: { path: box() } })
      const { code: ends, err } = await shell.satchel(['get', ...args])
      return expect([ends, err]).toEqual([exit, expect.stringContaining(`(${code})`)])
    }
    expect(await shell.refused('get', ...args)).toMatchObject({ code: exit, error: { code } })
  })

  it('resumes after every broken connection', async () => {
    const from = box()
    const bytes = randomBytes(24 * MiB)
    await alice.upload(`${from}/big.bin`, bytes)
    let passed = counter()
    const child = shell.begin(['get', `${from}/big.bin`, '-v'])
    const done = ended(child)
    const cuts = setInterval(() => {
      if (passed() < 5 * MiB) return
      wire.cut()
      passed = counter()
    }, 2)
    const { code, err } = await done
    clearInterval(cuts)
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/( Resuming\.\n.*){2,}big\.bin -> big\.bin/),
    ])
    expect(read('big.bin').equals(bytes)).toBe(true)
    expect(all('.').filter(path => path.endsWith('.part'))).toEqual([])
  })

  it('succeeds when another run has fetched the same file meanwhile', async () => {
    const from = box()
    const bytes = randomBytes(16 * MiB)
    await alice.upload(`${from}/big.bin`, bytes)
    const child = shell.begin(['get', `${from}/big.bin`])
    const done = ended(child)
    await partOf(MiB)
    child.kill('SIGSTOP')
    await shell.json('get', `${from}/big.bin`)
    child.kill('SIGCONT')
    expect(await done).toEqual({ code: 0, out: 'big.bin\n', err: '' })
    expect(read('big.bin').equals(bytes)).toBe(true)
    expect(all('.').filter(path => path.endsWith('.part'))).toEqual([])
  })

  it('resumes and reports this after an interruption; a run for another file leaves the part alone', async () => {
    const from = box()
    const bytes = randomBytes(16 * MiB)
    await alice.upload(`${from}/big.bin`, bytes)
    const child = shell.begin(['get', `${from}/big.bin`])
    const done = ended(child)
    await partOf(6 * MiB)
    wire.freeze()
    child.kill('SIGINT')
    const { code, out, err } = await done
    expect([code, out, err]).toEqual([
      130,
      '',
      'error: Interrupted. Run the same command to resume. (INTERRUPTED)\n',
    ])
    await wire.heal()
    const [part = ''] = all('.').filter(path => path.endsWith('.part'))
    const here = statSync(join(shell.home, part)).size
    expect(here).toBeGreaterThan(0)

    const fetched = counter()
    expect((await shell.json('get', `${from}/big.bin`)).files).toMatchObject([
      { status: 'downloaded', size: bytes.length },
    ])
    expect(read('big.bin').equals(bytes)).toBe(true)
    expect(fetched()).toBeLessThan(bytes.length - here + MiB)
    expect(all('.').filter(path => path.endsWith('.part'))).toEqual([])
  })

  it('downloads one archive of several entries, and resumes it while nothing has changed', async () => {
    const from = box()
    const bytes = randomBytes(16 * MiB)
    await alice.upload(`${from}/d/big.bin`, bytes)
    await alice.upload(`${from}/d/e/a.txt`, 'hello')
    await alice.upload(`${from}/b.txt`, 'b')
    const child = shell.begin(['get', '--zip', `${from}/d`])
    const done = ended(child)
    await partOf(6 * MiB)
    wire.freeze()
    child.kill('SIGINT')
    expect((await done).code).toBe(130)
    await wire.heal()
    const fetched = counter()
    expect((await shell.json('get', '--zip', `${from}/d`)).files).toMatchObject([
      { path: 'd.zip', source: 'd.zip', status: 'downloaded' },
    ])
    expect(fetched()).toBeLessThan(12 * MiB)
    const found = await readZip(read('d.zip'))
    expect([...found.keys()]).toEqual(['d/', 'd/big.bin', 'd/e/', 'd/e/a.txt'])
    expect(found.get('d/e/a.txt')?.text).toBe('hello')
    expect(all('.').filter(path => path.endsWith('.part'))).toEqual([])
    await shell.json('get', '--zip', `${from}/d/e`, `${from}/b.txt`, '-o', 'two.zip')
    expect([...(await readZip(read('two.zip'))).keys()]).toEqual(['b.txt', 'e/', 'e/a.txt'])
    const shared = await alice.rest('POST', '/api/folders/quick_share', {
      json: { path: `${from}/d/e` },
    })
    await shell.json('get', shared.response.sharing_link, '-o', 'shared.zip')
    expect([...(await readZip(read('shared.zip'))).keys()]).toEqual(['e/', 'e/a.txt'])
  })

  it.each<[string, string[]]>([
    ['USAGE', ['a', 'garden:/a']],
    ['USAGE', ['https://example.com/share/x']],
    ['FILE_NOT_FOUND', ['nowhere']],
  ])('refuses an archive with %s for %j', async (code, args) => {
    expect(await shell.refused('get', '--zip', ...args)).toMatchObject({ error: { code } })
  })

  it('does not mix an archive with one of other files', async () => {
    const from = box()
    await alice.upload(`${from}/big.bin`, randomBytes(16 * MiB))
    const child = shell.begin(['get', '--zip', from])
    const done = ended(child)
    await partOf(6 * MiB)
    await alice.upload(`${from}/more.txt`, 'more')
    wire.cut()
    const { code, err } = await done
    expect([code, err]).toEqual([1, expect.stringContaining('(FILE_CHANGED)')])
    await shell.json('get', '--zip', from)
    expect((await readZip(read(`${from}.zip`))).get(`${from}/more.txt`)?.text).toBe('more')
  })

  it('starts over when the partial file is damaged', async () => {
    const from = box()
    const bytes = randomBytes(3 * MiB)
    await alice.upload(`${from}/a.bin`, bytes)
    const first = shell.begin(['get', `${from}/a.bin`])
    const done = ended(first)
    await partOf(1)
    first.kill('SIGKILL')
    await done
    const part = all('.').find(path => path.endsWith('.part'))
    if (part) {
      writeFileSync(join(shell.home, part), randomBytes(2 * MiB))
      await shell.json('get', `${from}/a.bin`)
      truncateSync(join(shell.home, 'a.bin'), 0)
    }
    await shell.json('get', `${from}/a.bin`, '--force')
    expect(read('a.bin').equals(bytes)).toBe(true)
  })

  it('exits with 1 where it cannot write, and downloads the rest', async () => {
    const from = box()
    await alice.upload(`${from}/a.txt`, 'hello')
    mkdirSync(join(shell.home, 'closed'))
    chmodSync(join(shell.home, 'closed'), 0o555)
    const { code, err } = await asNobody(['get', `${from}/a.txt`, '-o', 'closed/', '--json'])
    expect([code, JSON.parse(err).error]).toEqual([
      1,
      expect.objectContaining({ code: 'LOCAL_FILE', system_code: 'EACCES' }),
    ])
    const full = await ended(
      (await import('node:child_process')).spawn(
        'sh',
        [
          '-c',
          `"$0" "$@" > /dev/full`,
          process.execPath,
          ...(await argsOf(['get', `${from}/a.txt`, '-o', '-'])),
        ],
        { env: shell.env },
      ),
    )
    expect([full.code, full.err]).toEqual([1, expect.stringContaining('ENOSPC')])
  })

  it('exits with 1 when the disk is full, keeps the partial file, and resumes later', async () => {
    const from = box()
    const bytes = randomBytes(4 * MiB)
    await alice.upload(`${from}/a.bin`, bytes)
    // The limit counts blocks of 1,024 bytes in bash. A process that ignores the signal gets EFBIG.
    const args = await argsOf(['get', `${from}/a.bin`, '--json'])
    const child = (await import('node:child_process')).spawn(
      'bash',
      ['-c', `trap '' XFSZ; ulimit -f 2048; exec "$0" "$@"`, process.execPath, ...args],
      { env: shell.env, cwd: shell.home },
    )
    const { code, err } = await ended(child)
    expect([code, JSON.parse(err).error]).toEqual([
      1,
      expect.objectContaining({ code: 'LOCAL_FILE', system_code: 'EFBIG' }),
    ])
    expect(existsSync(join(shell.home, 'a.bin'))).toBe(false)
    const part = all('.').find(path => path.endsWith('.part')) ?? ''
    expect(statSync(join(shell.home, part)).size).toBe(2 * MiB)
    await shell.json('get', `${from}/a.bin`)
    expect(read('a.bin').equals(bytes)).toBe(true)
  })

  it('exits with 7 when the store does not respond, and keeps local files', async () => {
    const from = box()
    await alice.upload(`${from}/a.txt`, 'hello')
    await wire.refuse()
    const { code, err } = await shell.satchel(['get', `${from}/a.txt`, '--retries', '1'])
    expect([code, err]).toEqual([
      7,
      expect.stringContaining('Run the same command to resume. (UNREACHABLE)'),
    ])
  })
})

describe('Where clients cannot reach the store', () => {
  it('the service proxies the bytes', async () => {
    const proxied = await startApp({ DOWNLOADS: 'proxy' })
    const carol = await proxied.signIn('carol')
    const bytes = randomBytes(2 * MiB)
    await carol.upload('a.bin', bytes)
    const own = openWarmShell({
      SATCHEL_URL: proxied.url,
      SATCHEL_SESSION: carol.cookie.replace('session_id=', ''),
    })
    await own.json('get', 'a.bin')
    expect(readFileSync(join(own.home, 'a.bin')).equals(bytes)).toBe(true)
    own.close()
    await proxied.stop()
  })
})

const argsOf = async (args: string[]) => [
  '--enable-source-maps',
  (await import('../../support/command-line.ts')).program,
  ...args,
]

/** Waits until a .part file has this size. */
async function partOf(size: number): Promise<void> {
  for (
    const end = Date.now() + 10_000;
    Date.now() < end;
    await new Promise(next => setTimeout(next, 2))
  ) {
    const part = readdirSync(shell.home).find(name => name.endsWith('.part'))
    if (part && statSync(join(shell.home, part)).size >= size) return
    if (existsSync(join(shell.home, 'big.bin')) || existsSync(join(shell.home, 'a.bin'))) return
  }
}

/** Counts the bytes that the command receives from the store from now on. */
function counter(): () => number {
  const before = wire.passed()
  return () => wire.passed() - before
}

/** Runs satchel as a user without root privileges, so that file modes apply. */
async function asNobody(args: string[]) {
  const { spawn } = await import('node:child_process')
  const isRoot = process.getuid?.() === 0
  if (isRoot) chmodSync(shell.home, 0o755)
  const child = spawn(process.execPath, await argsOf(args), {
    cwd: shell.home,
    env: shell.env,
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  })
  return ended(child)
}
