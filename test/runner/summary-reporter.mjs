import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Reports at the end which engines the tests ran on, and the counts in one plain line. Records the
 * suite among the outcomes that its tests have seen (support/outcomes.ts).
 */
export default class SummaryReporter {
  constructor(_globalConfig, { said, suite }) {
    this.said = said
    this.suite = suite
  }

  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    process.stdout.write(`\n${this.said}\n${results.numPassedTests} passed, ${failed} failed\n`)
    const folder = process.env.TEST_OUTCOMES
    if (folder && !results.wasInterrupted)
      appendFileSync(join(folder, String(process.pid)), `suite ${this.suite}\n`)
  }
}
