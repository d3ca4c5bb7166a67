import type { Finding, Patient } from './doctor-check.ts'
import { checkUploads, compareLedgerWithStore } from './doctor-ledger.ts'
import { checkBuckets, checkEntries, checkJobs, checkPurges } from './doctor-tree.ts'

export interface Diagnosis {
  findings: number
  /** Of the findings. */
  mended: number
}

const checks = [compareLedgerWithStore, checkUploads, checkEntries, checkBuckets, checkPurges, checkJobs]

/**
 * Compares ledger and store in both directions, and the trees with their totals, page by page: memory is constant, and any number
 * of instances may be at work meanwhile. With `repair`, mends what can be mended without touching anything that an entry names.
 * @throws UNAVAILABLE, and whatever else the database or the store says
 */
export async function examine(
  patient: Patient,
  { repair, onFinding }: { repair: boolean; onFinding: (finding: Finding) => void },
): Promise<Diagnosis> {
  const diagnosis: Diagnosis = { findings: 0, mended: 0 }
  for (const check of checks) {
    for await (const { mend, ...problem } of check(patient)) {
      const mended = repair && mend !== undefined && (await mend())
      diagnosis.findings++
      if (mended) diagnosis.mended++
      onFinding({ ...problem, mended })
    }
  }
  return diagnosis
}
