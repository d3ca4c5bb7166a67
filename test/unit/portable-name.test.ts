import { describe, expect, it } from '@jest/globals'
import { portableName, portableNames } from '../../src/services/archives/portable-name.ts'

describe('The name of a file in an archive', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['Grüße 日本.txt', 'Grüße 日本.txt'],
    ['a:b?.txt', 'a_b_.txt'],
    ['<a>|"b"*\\c', '_a___b___c'],
    ['CON', '_CON'],
    ['con.txt', '_con.txt'],
    ['LPT1 .log', '_LPT1 .log'],
    ['console.txt', 'console.txt'],
    ['COM¹', '_COM¹'],
    ['end.', 'end_'],
    ['end. .', 'end___'],
    ['a\tb', 'a_b'],
  ])('is valid on Windows: %j', (name, portable) => {
    expect(portableName(name)).toBe(portable)
  })

  it('is changed if Windows or macOS would overwrite another file', () => {
    expect(portableNames(['A.TXT', 'a.txt', 'a (2).txt'])).toEqual([
      'A.TXT',
      'a (3).txt',
      'a (2).txt',
    ])
    // As one letter, and as a letter with a combining accent.
    expect(portableNames(['\u00e9', 'e\u0301'])).toEqual(['\u00e9', 'e\u0301 (2)'])
    expect(portableNames(['a:b', 'a_b', 'a?b'])).toEqual(['a_b (2)', 'a_b', 'a_b (3)'])
  })

  it('is found in linear time when all names collide', () => {
    const names = Array.from({ length: 4096 }, (_, at) =>
      [...'abcdefghijkl'].map((l, bit) => ((at >> bit) & 1 ? l.toUpperCase() : l)).join(''),
    )
    const since = process.cpuUsage()
    expect(new Set(portableNames(names).map(name => name.toLowerCase())).size).toBe(4096)
    expect(process.cpuUsage(since).user / 1e6).toBeLessThan(5)
  })
})
