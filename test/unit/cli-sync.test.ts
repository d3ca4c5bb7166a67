import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { isMarkedRemote, parseRemote } from '../../src/cli/path.ts'
import type { Place } from '../../src/cli/place.ts'
import { compare } from '../../src/cli/sync/compare.ts'
import type { Entry } from '../../src/cli/sync/entry.ts'
import { filterOf } from '../../src/cli/sync/filter.ts'
import { nameable } from '../../src/cli/sync/local-name.ts'
import { readRemote } from '../../src/cli/sync/remote-tree.ts'
import { openWarmShell, type Shell } from '../support/command-line.ts'
import { type FakeService, startFakeService } from './fake-service.ts'

const entries = (...paths: string[]) =>
  new Map(
    paths.map(path => {
      const isFolder = path.endsWith('/')
      const key = isFolder ? path.slice(0, -1) : path
      return [
        key,
        {
          kind: isFolder ? 'folder' : 'file',
          size: 1,
          name: key.split('/').at(-1) ?? '',
        } as Entry & { name: string },
      ]
    }),
  )

describe('A colon', () => {
  it('marks a remote path, in your files when no workspace is named', () => {
    expect(parseRemote(':/docs/a:b')).toEqual({
      workspace: undefined,
      path: 'docs/a:b',
      isFolder: false,
    })
    expect(parseRemote(':')).toEqual({ workspace: undefined, path: '', isFolder: true })
    expect([':/docs', 'garden:/', 'garden:'].map(text => isMarkedRemote(text, 'linux'))).toEqual([
      true,
      true,
      true,
    ])
    expect(
      ['docs', '/docs', './a:b', 'C:\\docs'].map(text => isMarkedRemote(text, 'linux')),
    ).toEqual([...[false, false, false, false]])
    expect(isMarkedRemote('c:\\docs', 'win32')).toBe(false)
  })
})

describe('Local names', () => {
  it('that differ only in case are rejected where they collide, with the contents of such folders', () => {
    const remote = entries('A/', 'A/x', 'a/', 'a/y', 'b', 'B')
    const { entries: all, failures: none } = nameable(remote, false)
    expect([[...all.keys()], none]).toEqual([[...remote.keys()], []])
    const { entries: some, failures } = nameable(remote, true)
    expect([...some.keys()]).toEqual(['A', 'A/x', 'b'])
    expect(failures.map(({ code, details }) => [code, details.path])).toEqual([
      ['UNSAFE_NAME', 'a'],
      ['UNSAFE_NAME', 'B'],
    ])
  })

  it('reserved by Windows are rejected', () => {
    const remote = entries('con', 'a.', 'nul.txt', 'fine.txt')
    expect([...nameable(remote, true, 'win32').entries.keys()]).toEqual(['fine.txt'])
    expect(nameable(remote, false, 'linux').entries.size).toBe(4)
  })
})

describe('A sync plan', () => {
  const plan = (
    source: string[],
    target: string[],
    given: { kept?: string[]; staying?: string[]; deletes?: boolean },
  ) =>
    compare({
      source: entries(...source),
      target: entries(...target),
      parallel: 2,
      isSame: async () => true,
      kept: new Set(given.kept),
      staying: new Set(given.staying),
      deletes: given.deletes ?? true,
    })

  it('keeps folders that contain kept entries', async () => {
    const target = ['a/', 'a/b/', 'a/b/kept', 'a/c', 'd/', 'd/e/', 'd/f']
    expect((await plan([], target, { kept: ['a/b/kept'], staying: ['d/e'] })).removals).toEqual([
      'a/c',
      'd/f',
    ])
    expect((await plan([], target, { deletes: false })).removals).toEqual([])
  })

  it('changes nothing below a kept entry, and reports it once', async () => {
    const { clashes, files, folders } = await plan(['l/', 'l/a', 'l/b/', 'ok'], [], { kept: ['l'] })
    expect([clashes, files.map(({ path }) => path), folders]).toEqual([['l'], ['ok'], []])
  })

  it('replaces an entry of another kind, unless it contains a kept entry', async () => {
    const cleared = await plan(['x'], ['x/', 'x/a'], {})
    expect([cleared.clearings, cleared.removals, cleared.clashes]).toEqual([['x', 'x/a'], [], []])
    const kept = await plan(['x'], ['x/', 'x/a'], { kept: ['x/a'] })
    expect([kept.clearings, kept.clashes, kept.files]).toEqual([[], ['x'], []])
  })
})

describe('Exclude patterns', () => {
  it('work as in a .gitignore', () => {
    const { takes, enters } = filterOf({
      include: ['*.js', '/docs/'],
      exclude: ['node_modules/', '/docs/old'],
    })
    expect(
      [
        'a.js',
        'x/b.js',
        'A.JS',
        'docs/a.md',
        'x/docs/a.md',
        'docs/old/a.js',
        'node_modules/a.js',
        '...',
      ].filter(path => takes(path, 'file')),
    ).toEqual(['a.js', 'x/b.js', 'docs/a.md'])
    expect([enters('x'), enters('node_modules'), enters('docs/old')]).toEqual([true, false, false])
    expect(takes('node_modules', 'file') || takes('docs', 'file')).toBe(false)
  })

  it('match names in both normal forms, and are refused when they match nothing', () => {
    expect(filterOf({ exclude: ['e\u0301*'] }).takes('\u00e9t\u00e9', 'file')).toBe(false)
    expect(filterOf({ exclude: ['\\#recycle'] }).takes('#recycle', 'folder')).toBe(false)
    for (const idle of ['#recycle', '', ' '])
      expect(() => filterOf({ exclude: [idle] })).toThrow(
        expect.objectContaining({ code: 'USAGE' }),
      )
  })
})

describe('A hostile service', () => {
  const evil = '\u001b[2J\u009b31m\u202e\u2028'
  let service: FakeService
  let shell: Shell

  beforeAll(async () => {
    const names = ['..', '.', '', 'a/b', '../../escape', '/etc/evil', '\u0000', evil, 'fine']
    const nodes = names.flatMap((name, i) => [
      {
        __typename: 'File',
        id: `file-${i}`,
        name: name && `${name}`,
        size: 0,
        md5: 'd41d8cd98f00b204e9800998ecf8427e',
      },
      { __typename: 'Folder', id: `folder-${i}`, name: name === 'fine' ? 'folder' : name },
    ])
    service = await startFakeService({
      fields: {
        'Drive.entry': { __typename: 'Folder', id: 'root' },
        'Query.node': ({ id }: { id: string }) => ({
          modifiedAt: '2026-01-01T00:00:00Z',
          download: { url: `${service.url}/bytes` },
          ...(nodes.find(node => node.id === id) ?? { __typename: 'Folder' }),
          entries: { nodes: id === 'root' ? nodes : [] },
        }),
      },
      listener(req, res) {
        if (!req.url?.startsWith('/api/events')) return false
        const response = { events: [], cursor: 'c', has_more: false }
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ status: 200, msg: 'ok', response }))
        return true
      },
    })
    shell = openWarmShell({ SATCHEL_URL: service.url, SATCHEL_KEY: 'key' })
  })
  afterAll(async () => {
    shell?.close()
    await service?.close()
  })

  it('makes satchel sync write and delete nothing outside the folder', async () => {
    // The sync cannot know that this local entry is gone from the service.
    mkdirSync(join(shell.home, 'in/here', evil), { recursive: true })
    writeFileSync(join(shell.home, 'in/here', evil, 'kept'), '')
    const { code, out } = await shell.satchel([
      'sync',
      '--delete',
      '--yes',
      '--json',
      ':/docs',
      'in/here',
    ])
    const { failed, changes } = JSON.parse(out)
    expect([code, new Set(failed.map((f: { code: string }) => f.code))]).toEqual([
      1,
      new Set(['UNSAFE_NAME']),
    ])
    expect(changes.map(({ path }: { path: string }) => path).sort()).toEqual(['fine', 'folder'])
    expect(readdirSync(shell.home).sort()).toEqual(['in', 'state'])
    expect(readdirSync(join(shell.home, 'in'))).toEqual(['here'])
    expect(readdirSync(join(shell.home, 'in/here', evil))).toEqual(['kept'])
    expect(existsSync('/etc/evil')).toBe(false)
  })

  it('sends no control sequences to the terminal of satchel sync', async () => {
    for (const more of [['--dry-run', '--delete'], ['-v'], ['--json']]) {
      const { out, err } = await shell.satchel(['sync', ...more, ':/docs', `in/${more[0]}`])
      expect(
        [out, err].filter(text => /[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(text)),
      ).toEqual([])
      expect(out).not.toBe('')
    }
  })
})

it('A listing accepts folders with more entries than a call accepts arguments', async () => {
  const nodes = Array.from({ length: 200_000 }, (_, n) => ({
    __typename: 'File',
    id: `${n}`,
    name: `${n}.txt`,
    revision: 1,
    updatedAt: '2026-01-01T00:00:00Z',
    size: 0,
    md5: '',
  }))
  const client = {
    patience: { retries: 0, signal: new AbortController().signal },
    rest: async () => ({ events: [], cursor: 'now', has_more: false }),
    request: async (_document: unknown, variables: object) =>
      'folder' in variables
        ? { node: { entries: { nodes, pageInfo: { hasNextPage: false, endCursor: null } } } }
        : { me: { drive: { entry: { __typename: 'Folder', id: 'root' } } } },
  }
  const { entries: found } = await readRemote({ client, drive: {} } as unknown as Place, '', null)
  expect(found.length).toBe(nodes.length)
})
