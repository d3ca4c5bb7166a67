// Prints the documented outcomes of routes and mutations that no test of a run has seen:
// `TEST_OUTCOMES=dir npm test`, also `npm run test:rest`, then `node test/tools/outcomes.ts dir`.
import { missingSuites, unseenOutcomes } from '../support/outcomes.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('Name the folder that was TEST_OUTCOMES during the tests.')
const missing = missingSuites(folder)
const unseen = unseenOutcomes(folder)
const byOperation = Map.groupBy(unseen, outcome => outcome.split(' ', 2).join(' '))
for (const [operation, outcomes] of byOperation)
  console.error(`  ${operation}: ${outcomes.map(it => it.slice(operation.length + 1)).join(', ')}`)
if (unseen.length > 0) console.error(`No test has seen these ${unseen.length} documented outcomes.`)
if (missing.length > 0)
  console.error(
    `The list is incomplete: there are no outcomes of the suites ${missing.join(', ')}.`,
  )
process.exitCode = unseen.length + missing.length > 0 ? 1 : 0
