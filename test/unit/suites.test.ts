import { globSync } from 'node:fs'
import { matchesGlob, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'

type Suite = { name: string; testMatch: string[] }[]
const path: string = resolve('test/runner/suites.mjs')
const {
  suites,
  inBrowser,
}: {
  suites: { quick: Suite; rest: Suite; all: Suite }
  inBrowser: (suite?: string) => string[]
} = await import(path)

const files = globSync('test/**/*.test.*', { exclude: ['test/**/node_modules'] })
const isIn = (globs: string[]) => (file: string) =>
  globs.some(glob => matchesGlob(`<rootDir>/${file}`, glob))
const globsOf = (...of: Suite[]) => of.flatMap(suite => suite.flatMap(({ testMatch }) => testMatch))

describe('test/runner/suites.mjs', () => {
  it('runs every test file at night: a file in any other folder would never run', () => {
    const isRun = isIn([...globsOf(suites.all), ...inBrowser()])
    expect(files.length).toBeGreaterThan(300)
    expect(files.filter(file => !isRun(file))).toEqual([])
  })

  it('runs every test file for each change, except those in nightly/', () => {
    const isRun = isIn([...globsOf(suites.quick, suites.rest), ...inBrowser('rest')])
    expect(files.filter(file => isRun(file) === file.includes('/nightly/'))).toEqual([])
  })

  it('runs the tests of races on MariaDB', () => {
    const races = suites.rest.find(({ name }) => name === 'mysql-races')
    expect(races?.testMatch).toContain('<rootDir>/test/api/graph-files.test.ts')
    expect(races?.testMatch).not.toContain('<rootDir>/test/api/picture.test.ts')
    expect(files.filter(isIn(races?.testMatch ?? []))).toHaveLength(races?.testMatch.length ?? 0)
  })
})
