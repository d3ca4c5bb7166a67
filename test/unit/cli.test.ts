import { describe, expect, it } from '@jest/globals'
import { invitable, roles } from '../../src/access/roles.ts'
import { privateScopes, workspaceScopes } from '../../src/access/scopes.ts'
import { wholeNumber as commandNumber } from '../../src/cli/command.ts'
import { isOpen, readUrl } from '../../src/cli/credentials.ts'
import { Failure, toFailure } from '../../src/cli/failure.ts'
import { isSafeName, joinPath, parseLink, parseRemote, splitPath } from '../../src/cli/path.ts'
import { duration as left } from '../../src/cli/progress.ts'
import { linkTable, table } from '../../src/cli/table.ts'
import { jsonLine, plain } from '../../src/cli/text.ts'
import {
  duration,
  inviteRoles,
  memberRoles,
  privateWords,
  scopeOf,
  wireScope,
  workspaceWords,
} from '../../src/cli/words.ts'
import { wholeNumber as operatorNumber } from '../../src/runtime/program.ts'
import { parseDuration } from '../../src/values/duration.ts'

describe('Words', () => {
  it('cover every scope and role of the service', () => {
    expect(Object.values(privateWords).sort()).toEqual([...privateScopes].sort())
    expect(Object.values(workspaceWords).sort()).toEqual([...workspaceScopes].sort())
    expect([...memberRoles].sort()).toEqual([...roles].sort())
    expect([...inviteRoles].sort()).toEqual([...invitable].sort())
    expect(scopeOf('read', privateWords)).toBe('PRIVATE_FILES_READ')
    expect(scopeOf('private_files:read', privateWords)).toBe('PRIVATE_FILES_READ')
    expect(scopeOf('members:read', workspaceWords)).toBe('WORKSPACES_MEMBERS_READ')
    expect(wireScope('WORKSPACES_MEMBERS_READ')).toBe('workspaces:members:read')
    expect(wireScope('PRIVATE_FILES_SEND')).toBe('PRIVATE_FILES_SEND')
    expect(() => scopeOf('constructor', privateWords)).toThrow(
      '"constructor" is not a scope. Choose from read, write',
    )
  })

  it.each([
    ['30m', '30m'],
    ['7d', '7d'],
    ['6mo', '6mo'],
    ['90 minutes', '90m'],
    ['1 hour', '1h'],
    ['12 hrs', '12h'],
    ['2 Weeks', '2w'],
    ['a day', '1d'],
    ['an hour', '1h'],
    ['3 months', '3mo'],
    ['1 year', '1y'],
    ['120s', '120s'],
  ])('"%s" is %s for the service', (said, wanted) => {
    expect(duration(said)).toBe(wanted)
    expect(parseDuration(wanted)).toBeGreaterThan(0)
  })

  it.each(['', 'd', '7', '7 moons', '1.5h', '-1d', '7dd', 'soon'])(
    '"%s" is not a duration',
    said => {
      expect(() => duration(said)).toThrow('number and a unit')
    },
  )
})

describe.each([
  ['satchel', commandNumber],
  ['a program of the operator', operatorNumber],
])('An integer option for %s', (_program, wholeNumber) => {
  it.each(['1', '20', '999999999'])('accepts "%s"', text => {
    expect(wholeNumber(1)(text)).toBe(Number(text))
    expect(wholeNumber(0)('0')).toBe(0)
  })

  it.each([
    '',
    '0',
    '007',
    '00',
    '+5',
    '-5',
    ' 5',
    '5 ',
    '5\n',
    '1e3',
    '0x10',
    '5.0',
    '1_000',
    '٥',
    '1000000000',
  ])('refuses %j', text => {
    const refusal =
      'Write a whole number from 1 to 999999999, in digits without leading zeros, such as 20.'
    expect(() => wholeNumber(1)(text)).toThrow(refusal)
    expect(() => wholeNumber(0)('007')).toThrow('from 0 to')
  })
})

describe('A remote path', () => {
  it.each([
    ['', undefined, '', true],
    ['/', undefined, '', true],
    ['docs/a.txt', undefined, 'docs/a.txt', false],
    ['//docs//', undefined, 'docs', true],
    ['garden:', 'garden', '', true],
    ['garden:/', 'garden', '', true],
    ['garden:docs/a.txt', 'garden', 'docs/a.txt', false],
    ['garden:/a:b', 'garden', 'a:b', false],
    ['/garden:/x', undefined, 'garden:/x', false],
    ['Garden:/x', undefined, 'Garden:/x', false],
    ['a b:/x', undefined, 'a b:/x', false],
    ['0198c0de-0000-7000-8000-000000000000:/x', '0198c0de-0000-7000-8000-000000000000', 'x', false],
    ['x/y:z', undefined, 'x/y:z', false],
  ])('%j', (text, workspace, path, isFolder) => {
    expect(parseRemote(text)).toEqual({ workspace, path, isFolder })
  })

  it('can be split and joined', () => {
    expect(splitPath('a/b/c')).toEqual({ folder: 'a/b', name: 'c' })
    expect(splitPath('c')).toEqual({ folder: '', name: 'c' })
    expect(joinPath('', 'a', '', 'b')).toBe('a/b')
  })
})

describe('A local file name', () => {
  it.each(['a', '..a', 'a..', '-a', 'a b', 'con', 'a:b', '🦊', '...'])('%j is safe', name => {
    expect(isSafeName(name, 'linux')).toBe(true)
  })

  it.each(['', '.', '..', 'a/b', 'a\\b', 'a\0', '\u001b', '\u009b', '\n'])('%j is unsafe', name => {
    expect(isSafeName(name, 'linux')).toBe(false)
  })

  it.each(['con', 'NUL.txt', 'a:b', 'a.', 'a ', 'x?', 'lpt1'])('%j is unsafe on Windows', name => {
    expect([isSafeName(name, 'win32'), isSafeName(name, 'linux')]).toEqual([false, true])
  })
})

describe('A link', () => {
  it.each([
    ['abc-_1', { token: 'abc-_1', origin: undefined }],
    ['https://x.example/share/abc', { token: 'abc', origin: 'https://x.example' }],
    ['http://x.example:8080/invite/abc/', { token: 'abc', origin: 'http://x.example:8080' }],
  ])('%s', (text, link) => {
    expect(parseLink(text)).toEqual(link)
  })

  it.each(['', 'a b', 'https://x.example/', 'https://x.example/share/', '../x'])(
    '%j is not a link',
    text => {
      expect(() => parseLink(text)).toThrow(Failure)
    },
  )
})

describe('An address', () => {
  it('is normalised, and judged as safe or unsafe for a key', () => {
    expect(readUrl('https://Files.example.com/')).toBe('https://files.example.com')
    expect(readUrl('http://x/base/')).toBe('http://x/base')
    for (const bad of ['files.example.com', 'ftp://x', 'https://a:b@x', ''])
      expect(() => readUrl(bad)).toThrow(Failure)
    expect(
      ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:8', 'https://x'].filter(isOpen),
    ).toEqual([])
    expect(['http://x', 'http://10.0.0.1:8080'].filter(isOpen)).toHaveLength(2)
  })
})

describe('Output', () => {
  const esc = String.fromCharCode(27)

  it('contains no control sequences', () => {
    expect(plain(`a${esc}[2Jb\u009b\u202e\u2028\ud800\tc 日本 e\u0301`)).toBe(
      'a�[2Jb�����c 日本 e\u0301',
    )
    const line = jsonLine({ someName: [`${esc}\u009b\u007f\u202e`, { innerName: null }] })
    expect(line).toBe('{"some_name":["\\u001b\\u009b\\u007f\\u202e",{"inner_name":null}]}\n')
    expect(JSON.parse(line).some_name[0]).toBe(`${esc}\u009b\u007f\u202e`)
  })

  it('is aligned in columns, even with wide characters', () => {
    expect(
      table(
        ['A', 'B'],
        [
          ['日本', 'x'],
          ['abc', 'y'],
        ],
      ),
    ).toBe('A     B\n日本  x\nabc   y')
  })

  it('shows durations', () => {
    expect([0.2, 59, 75, 3600, 7325].map(left)).toEqual([
      '1 s',
      '59 s',
      '1 min 15 s',
      '1 h 0 min',
      '2 h 2 min',
    ])
  })
})

describe('An error', () => {
  it('of the system is explained in words, and an error of the service is shown as it is', () => {
    const missing = Object.assign(new Error('ENOENT: x'), { code: 'ENOENT', path: 'a.txt' })
    expect(toFailure(missing)).toMatchObject({
      code: 'LOCAL_FILE',
      message: 'a.txt: There is no such file or folder.',
      exitCode: 1,
    })
    expect(toFailure(new TypeError('x is undefined.'))).toMatchObject({
      code: 'UNEXPECTED',
      exitCode: 1,
    })
    expect(toFailure('text')).toMatchObject({ code: 'UNEXPECTED', message: 'text' })
    expect(new Failure('SOMETHING_NEW', 'New.').exitCode).toBe(1)
  })
})

describe('A table of links', () => {
  const rows = [['a.txt', 'https://files.example.com/share/abc']]

  it('has one line a row on a wide terminal, or without a terminal', () => {
    for (const columns of [80, undefined])
      expect(linkTable(['FILE', 'LINK'], rows, columns)).toBe(
        'FILE   LINK\na.txt  https://files.example.com/share/abc',
      )
  })

  it('shows each link whole on its own line on a narrow terminal', () => {
    expect(linkTable(['FILE', 'LINK'], rows, 40)).toBe(
      'FILE\na.txt\n  https://files.example.com/share/abc',
    )
  })
})
