import { describe, expect, it } from '@jest/globals'
import { quoteForBash, readBashLine } from '../../src/cli/completion/bash-line.ts'

const breaks = ' \t\n"\'@><=;|&(:'

describe('A bash command line', () => {
  it.each<[string, string[], string]>([
    ['satchel ', ['satchel', ''], ''],
    ['satchel  ls  do', ['satchel', 'ls', 'do'], ''],
    ['satchel ls my\\ fi', ['satchel', 'ls', 'my fi'], ''],
    ["satchel ls 'my fi", ['satchel', 'ls', 'my fi'], ''],
    ["satchel ls a'my fi", ['satchel', 'ls', 'amy fi'], 'a'],
    ['satchel ls "it\'s \\"x\\" \\y', ['satchel', 'ls', 'it\'s "x" \\y'], ''],
    ['satchel ls "my files"/o', ['satchel', 'ls', 'my files/o'], ''],
    ['satchel ls garden:/pl', ['satchel', 'ls', 'garden:/pl'], 'garden:'],
    ['satchel ls a\\:b', ['satchel', 'ls', 'a:b'], ''],
    ['satchel ls "a:b', ['satchel', 'ls', 'a:b'], ''],
    ["satchel ls ''", ['satchel', 'ls', ''], ''],
    ['satchel ls --to=ga', ['satchel', 'ls', '--to=ga'], '--to='],
    ['satchel ls a\\', ['satchel', 'ls', 'a'], ''],
  ])('%j', (line, words, kept) => {
    expect(readBashLine(line, breaks)).toMatchObject({ words, kept, isRedirect: false })
  })

  it('completes a local file after < and >', () => {
    expect(readBashLine('satchel get a -o - > b', breaks)).toMatchObject({
      words: expect.anything(),
      isRedirect: true,
    })
    expect(readBashLine('satchel put - <a --name b', breaks)).toMatchObject({
      words: ['satchel', 'put', '-', '--name', 'b'],
      isRedirect: false,
    })
  })

  it('keeps quoted text unchanged', () => {
    const name = 'it\'s "x" $HOME `id` \\ (a&b;c|d) {e} [f] *?~#^ <g> 日本'
    for (const [quote, open] of [
      ['', ''],
      ["'", "'"],
      ['"', '"'],
    ] as const)
      expect(readBashLine(`x ${open}${quoteForBash(name, quote)}`, breaks).words).toEqual([
        'x',
        name,
      ])
  })
})
