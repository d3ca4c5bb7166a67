/** Reports at the end which engines the tests ran on, and the counts in one plain line. */
export default class SummaryReporter {
  constructor(_globalConfig, options) {
    this.said = options.said
  }

  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites
    process.stdout.write(`\n${this.said}\n${results.numPassedTests} passed, ${failed} failed\n`)
  }
}
