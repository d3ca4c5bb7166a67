// Prints the documented outcomes of routes and mutations that no test of a run has seen:
// `TEST_OUTCOMES=dir npm test`, also `npm run test:rest`, then `node test/tools/outcomes.ts dir`.
import { unseenOutcomes } from '../support/outcomes.ts'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('Name the folder that was TEST_OUTCOMES during the tests.')
const unseen = unseenOutcomes(folder)
for (const outcome of unseen) console.error(`No test has seen: ${outcome}`)
process.exitCode = unseen.length > 0 ? 1 : 0
