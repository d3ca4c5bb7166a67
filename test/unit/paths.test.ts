import { describe, expect, it } from '@jest/globals'
import { AppError } from '../../src/runtime/errors.ts'
import { joinPath, limits, parseFilePath, parseName, parsePath } from '../../src/values/paths.ts'

function refusal(parse: () => unknown): AppError {
  try {
    parse()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('was not refused')
}

/** A small random generator with a seed, so that a failure can be reproduced. */
function randoms(seed: number) {
  let state = seed
  const below = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const pieces = [
    'a',
    'Z',
    '0',
    '.',
    '..',
    ' ',
    '-',
    '%2F',
    'é',
    'e\u0301',
    'ß',
    'Å',
    '\u212b',
    '한',
    '\u1112\u1161\u11ab',
    '日本',
  ]
  const odd = [
    '/',
    '\\',
    '\u0000',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\ufeff',
    '\ud800',
    '\udc00',
    '\ud83d\ude00',
    '\u0301',
    '\u0338',
  ]
  const text = (from: string[], most: number) =>
    Array.from({ length: below(most) + 1 }, () => from[below(from.length)]).join('')
  return { below, tame: () => text(pieces, 8), wild: () => text([...pieces, ...odd], 14) }
}

describe('parsePath', () => {
  it.each([
    ['', []],
    ['/', []],
    ['////', []],
    ['docs', ['docs']],
    ['/docs/a.txt', ['docs', 'a.txt']],
    ['docs/a.txt///', ['docs', 'a.txt']],
    ['...', ['...']],
    ['.hidden/..x', ['.hidden', '..x']],
    ['a b/c\u00a0d', ['a b', 'c\u00a0d']],
    ['😀/日本語', ['😀', '日本語']],
    ['%2e%2e/%2F', ['%2e%2e', '%2F']],
  ])('reads %j as %j', (text, names) => {
    expect(parsePath(text)).toEqual(names)
  })

  it('writes names in NFC, whatever their form', () => {
    expect(parsePath('re\u0301sume\u0301/\u212b')).toEqual(['r\u00e9sum\u00e9', '\u00c5'])
    expect(parsePath('\u1112\u1161\u11ab')).toEqual(['한'])
  })

  it.each([
    ['an empty name', 'a//b'],
    ['a dot', 'a/./b'],
    ['two dots', '../etc/passwd'],
    ['only two dots', '..'],
    ['a backslash', 'a\\b'],
    ['NUL', 'a\u0000'],
    ['a line break', 'a\nb'],
    ['DEL', 'a\u007fb'],
    ['a C1 control', 'a\u009bb'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\ude00a'],
    ['surrogates the wrong way round', '\ude00\ud83d'],
    ['a pair torn apart by a slash', '\ud83d/\ude00'],
  ])('refuses %s', (_what, text) => {
    expect(refusal(() => parsePath(text, 'source'))).toMatchObject({
      code: 'INVALID_PATH',
      status: 400,
      details: { field: 'source' },
    })
  })

  it.each([
    ' ',
    '\t',
    '\u0085',
    '\u00a0',
    '\u1680',
    '\u2003',
    '\u2028',
    '\u2029',
    '\u202f',
    '\u205f',
    '\u3000',
    '\ufeff',
    '\u2000',
  ])('refuses %j around a name', space => {
    for (const text of [space, `${space}a`, `a${space}`, `x/${space}a/y`, `x/a${space}/y`])
      expect(refusal(() => parsePath(text)).code).toBe('INVALID_PATH')
  })

  it('counts bytes of a name after normalisation', () => {
    expect(parsePath('a'.repeat(255))).toHaveLength(1)
    expect(refusal(() => parsePath('a'.repeat(256))).message).toContain('255')
    expect(parsePath('e\u0301'.repeat(127))).toEqual(['é'.repeat(127)])
    expect(refusal(() => parsePath('é'.repeat(128))).message).toContain('255')
    expect(parsePath('😀'.repeat(63))).toHaveLength(1)
    expect(refusal(() => parsePath('😀'.repeat(64))).message).toContain('255')
  })

  it('accepts at most 32 names', () => {
    expect(parsePath(`/${'a/'.repeat(32)}`)).toHaveLength(32)
    expect(refusal(() => parsePath('a/'.repeat(33))).message).toContain('32')
  })

  it('accepts at most 1,024 bytes of joined path', () => {
    const name = 'a'.repeat(204)
    const full = [name, name, name, name, name].join('/')
    expect(Buffer.byteLength(full)).toBe(1024)
    expect(joinPath(parsePath(`///${full}//`))).toBe(full)
    expect(refusal(() => parsePath(`${full}b`)).message).toContain('1024')
  })

  it('accepts the longest path also in its longest form', () => {
    const name = 'u\u0308\u0304'.repeat(102)
    const full = [name, name, name, name, name].join('/')
    expect(Buffer.byteLength(joinPath(parsePath(full)))).toBe(1024)
  })

  it('refuses huge inputs quickly', () => {
    const started = performance.now()
    for (const text of [
      `a${'/'.repeat(1e6)}b`,
      'a\u0301'.repeat(5e5),
      '\u0301'.repeat(1e6),
      ' '.repeat(1e6),
    ])
      expect(refusal(() => parsePath(text)).code).toBe('INVALID_PATH')
    expect(parsePath('/'.repeat(1e6))).toEqual([])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('parses any accepted path again to the same value', () => {
    const random = randoms(7)
    let accepted = 0
    for (let i = 0; i < 5000; i++) {
      const text = random.wild()
      let names: string[]
      try {
        names = parsePath(text)
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_PATH' })
        continue
      }
      accepted++
      expect(parsePath(joinPath(names))).toEqual(names)
      expect(parsePath(`/${joinPath(names)}/`)).toEqual(names)
      for (const name of names) {
        expect(parseName(name)).toBe(name)
        expect(name).toBe(name.normalize('NFC'))
        expect(name.trim()).toBe(name)
        expect(Buffer.from(name).toString()).toBe(name)
        expect(['', '.', '..']).not.toContain(name)
      }
    }
    expect(accepted).toBeGreaterThan(200)
  })

  it('joins the parts that it has split', () => {
    const random = randoms(11)
    for (let i = 0; i < 2000; i++) {
      const names = Array.from({ length: random.below(6) }, () =>
        `x${random.tame()}x`.normalize('NFC'),
      )
      expect(parsePath(joinPath(names))).toEqual(names)
    }
  })
})

describe('parseFilePath', () => {
  it('requires a name', () => {
    expect(parseFilePath('/docs/a.txt')).toEqual(['docs', 'a.txt'])
    expect(refusal(() => parseFilePath('/', 'file'))).toMatchObject({
      code: 'INVALID_PATH',
      details: { field: 'file' },
    })
  })
})

describe('parseName', () => {
  it('reads one name', () => {
    expect(parseName('e\u0301.txt')).toBe('é.txt')
    expect(parseName('a'.repeat(limits.nameBytes))).toHaveLength(255)
  })

  it.each(['', '/', 'a/b', '/a', 'a/', '.', '..', ' a', 'a\\b', 'a'.repeat(256), 'a'.repeat(1e5)])(
    'refuses %.20j',
    text => {
      expect(refusal(() => parseName(text, 'folder_name'))).toMatchObject({
        code: 'INVALID_PATH',
        details: { field: 'folder_name' },
      })
    },
  )
})
