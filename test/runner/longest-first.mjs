import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** These folders contain long tests. For other tests, the file size serves as an estimate. */
const rank = ({ path }) => {
  const often = ['nightly', 'mariadb', 'drills'].findIndex(part => path.includes(`/${part}/`))
  return [often < 0 ? 3 : often, -statSync(path).size]
}
const compare = ([a, b], [c, d]) => a - c || b - d

/** The same file may pass in one project and fail in another. */
const keyOf = (path, project) => `${project?.name ?? ''} ${path}`
const keyOfTest = ({ path, context }) => keyOf(path, context.config.displayName)
/** One file for each npm script, because scripts may run at the same time. */
const failuresOf = tests =>
  join(
    tests[0].context.config.rootDir,
    `node_modules/.cache/failed-tests-${(process.env.npm_lifecycle_event ?? 'jest').replaceAll(':', '-')}.json`,
  )

/** Starts the longest tests first, so that no worker is left alone with one at the end. */
export default class LongestFirst {
  /** Selects the tests of a part of a run (--shard). */
  shard(tests, { shardIndex, shardCount }) {
    return tests.filter((_, i) => i % shardCount === shardIndex - 1)
  }

  sort(tests) {
    return [...tests].sort((a, b) => compare(rank(a), rank(b)))
  }

  /** The files that failed in the last run (--onlyFailures). */
  allFailedTests(tests) {
    if (tests.length === 0) return tests
    const failed = JSON.parse(readFileSync(failuresOf(tests), 'utf8'))
    return tests.filter(test => failed.includes(keyOfTest(test)))
  }

  cacheResults(tests, { testResults }) {
    if (tests.length === 0) return
    // The result of a file that could not be loaded does not name its project.
    const passed = testResults.filter(
      ({ numFailingTests, testExecError }) => numFailingTests === 0 && !testExecError,
    )
    const keys = new Set(
      passed.map(({ testFilePath, displayName }) => keyOf(testFilePath, displayName)),
    )
    const file = failuresOf(tests)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(tests.map(keyOfTest).filter(key => !keys.has(key))))
  }
}
