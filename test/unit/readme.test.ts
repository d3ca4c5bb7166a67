import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { settingRows } from '../../src/settings.ts'

const file = join(dirname(fileURLToPath(import.meta.url)), '../../README.md')
const [begin, end] = ['<!-- settings:begin -->\n', '<!-- settings:end -->']

describe('README.md', () => {
  it('begins with the two commands', () => {
    const [first, second] = [...readFileSync(file, 'utf8').matchAll(/^npm install && npm (\w+)/gm)].map(
      ([, name]) => name,
    )
    expect([first, second]).toEqual(['start', 'test'])
  })

  it('has every setting with its default; UPDATE_README=1 npm test writes them', () => {
    const text = readFileSync(file, 'utf8')
    const cell = (value: string) => value.replaceAll('|', '\\|').replaceAll('<', '&lt;')
    const rows = settingRows().map(
      ({ name, help, fallback }) => `| \`${name}\` | ${cell(help)} | ${cell(fallback)} |\n`,
    )
    const table = `| setting | meaning | default |\n|---|---|---|\n${rows.join('')}`
    const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
    if (process.env.UPDATE_README) writeFileSync(file, text.slice(0, from) + table + text.slice(to))
    expect(readFileSync(file, 'utf8').slice(from, from + table.length)).toBe(table)
  })
})
