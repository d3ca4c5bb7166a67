import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Report, verdict } from '../../.ci/verdict.ts'

const file = (name: string, tests: Record<string, string>, status = 'failed') => ({
  name: resolve(name),
  status: Object.values(tests).includes('failed') ? 'failed' : status,
  assertionResults: Object.entries(tests).map(([fullName, status]) => ({ fullName, status })),
})
const report = (...testResults: Report['testResults']): Report => {
  const count = (status: string) =>
    testResults.flatMap(f => f.assertionResults).filter(t => t.status === status).length
  return {
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numRuntimeErrorTestSuites: testResults.filter(f => f.assertionResults.length === 0).length,
    testResults,
  }
}
const good = (name: string) => file(name, { one: 'passed' }, 'passed')
const bad = (name: string) => file(name, { one: 'passed', two: 'failed' })

describe('the verdict of .ci/run', () => {
  it('repeats up to six failed files once', () => {
    expect(verdict(report(good('a'), ...['b', 'c', 'd', 'e', 'f', 'g'].map(bad)))).toEqual({
      passed: 7,
      failed: 6,
      again: true,
      flaky: [],
    })
  })

  it('does not repeat more failed files than that, or a run without failures', () => {
    expect(verdict(report(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(bad)))).toMatchObject({
      failed: 7,
      again: false,
    })
    expect(verdict(report(good('a')))).toMatchObject({ passed: 1, failed: 0, again: false })
  })

  it('fails a file that fails twice, and names files that passed alone', () => {
    const first = report(good('a'), bad('b'), bad('c'))
    const second = report(bad('b'), file('c', { one: 'passed', two: 'passed' }, 'passed'))
    expect(verdict(first, second)).toEqual({
      passed: 4,
      failed: 1,
      again: false,
      flaky: ['c: two'],
    })
  })

  it('counts a file that could not be loaded as one failure', () => {
    const first = report(good('a'), file('b', {}))
    expect(verdict(first)).toMatchObject({ failed: 1, again: true })
    expect(verdict(first, report(good('b')))).toEqual({
      passed: 2,
      failed: 0,
      again: false,
      flaky: ['b'],
    })
    expect(verdict(first, report(file('b', {})))).toMatchObject({ passed: 1, failed: 1, flaky: [] })
  })

  it('rejects a second run of other files', () => {
    expect(() => verdict(report(bad('a'), bad('b')), report(good('a')))).toThrow('Other files')
    expect(() => verdict(report(bad('a')), report())).toThrow('Other files')
  })
})

describe('jest --onlyFailures', () => {
  const root = mkdtempSync(join(tmpdir(), 'satchel-jest-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  const run = async (name: string, ...args: string[]): Promise<Report> => {
    const to = join(root, `${name}.json`)
    const jest = resolve('node_modules/jest/bin/jest.js')
    // The first run fails, as it should.
    await promisify(execFile)(process.execPath, [jest, '--json', `--outputFile=${to}`, ...args], {
      cwd: root,
    }).catch(() => {})
    return JSON.parse(readFileSync(to, 'utf8'))
  }

  beforeAll(() => {
    mkdirSync(join(root, 'test'))
    const project = (displayName: string) => ({
      displayName,
      testEnvironment: 'node',
      transform: {},
      globals: { displayName },
    })
    const config = {
      projects: [project('one'), project('two')],
      testSequencer: resolve('test/runner/longest-first.mjs'),
    }
    writeFileSync(join(root, 'jest.config.json'), JSON.stringify(config))
    writeFileSync(join(root, 'package.json'), '{}')
    const fails = `displayName === 'two' && !require('node:fs').existsSync(${JSON.stringify(join(root, 'alone'))})`
    writeFileSync(join(root, 'test/good.test.js'), "test('good', () => {})")
    writeFileSync(join(root, 'test/bad.test.js'), `test('bad', () => expect(${fails}).toBe(false))`)
    writeFileSync(
      join(root, 'test/broken.test.js'),
      `if (${fails}) throw new Error('broken'); test('whole', () => {})`,
    )
  })

  it('runs the failed files of the last run, in the projects in which they failed', async () => {
    const first = await run('first')
    expect(verdict(first)).toMatchObject({ passed: 4, failed: 2, again: true })
    writeFileSync(join(root, 'alone'), '')
    const second = await run('second', '--onlyFailures', '--runInBand')
    expect(second.testResults).toHaveLength(2)
    const { flaky, ...counts } = verdict(first, second)
    expect(counts).toEqual({ passed: 6, failed: 0, again: false })
    expect(flaky).toHaveLength(2)
  })
})
