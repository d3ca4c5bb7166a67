import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The fields of a `jest --json` report that are used here. */
export interface Report {
  numPassedTests: number
  numFailedTests: number
  numRuntimeErrorTestSuites: number
  testResults: {
    name: string
    status: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

export interface Verdict {
  passed: number
  failed: number
  /** Whether the failed files should run again. */
  again: boolean
  /** Tests that failed beside others and passed alone, as `file: test`. */
  flaky: string[]
}

/** If more of the about 400 files fail, the cause is not a flaky test. */
const MOST_AGAIN = 6

/**
 * The counts of a jest run.
 * @param second The report of a second run of the files that failed in the first; its results
 * replace theirs.
 * @throws Error if the second run covers other files
 */
export function verdict(first: Report, second?: Report): Verdict {
  const failedFiles = first.testResults.filter(file => file.status === 'failed')
  if (!second)
    return {
      passed: first.numPassedTests,
      failed: failuresOf(first),
      again: failedFiles.length > 0 && failedFiles.length <= MOST_AGAIN,
      flaky: [],
    }
  if (namesOf(second.testResults) !== namesOf(failedFiles))
    throw new Error('Other files than those that failed ran again.')
  const counted = failedFiles.flatMap(testsWith('passed')).length
  const twice = new Set(second.testResults.flatMap(testsWith('failed')))
  return {
    passed: first.numPassedTests - counted + second.numPassedTests,
    failed: failuresOf(second),
    again: false,
    flaky: failedFiles.flatMap(testsWith('failed')).filter(test => !twice.has(test)),
  }
}

const failuresOf = (report: Report) => report.numFailedTests + report.numRuntimeErrorTestSuites

const namesOf = (files: Report['testResults']) =>
  files
    .map(file => file.name)
    .sort()
    .join('\n')

/** The tests of a file with this status; a file that could not be loaded is one failed test. */
const testsWith = (status: string) => (file: Report['testResults'][number]) => {
  const name = relative('.', file.name)
  if (
    status === 'failed' &&
    file.status === 'failed' &&
    !file.assertionResults.some(test => test.status === 'failed')
  )
    return [name]
  return file.assertionResults
    .filter(test => test.status === status)
    .map(test => `${name}: ${test.fullName}`)
}

// Prints the verdict on the reports in these files, one field a line: passed, failed, again, and
// the flaky tests.
if (import.meta.main) {
  const [first, second] = process.argv
    .slice(2)
    .filter(file => existsSync(file))
    .map(file => JSON.parse(readFileSync(file, 'utf8')))
  const { passed, failed, again, flaky } = verdict(first, second)
  console.log([passed, failed, again, ...flaky].join('\n'))
}
