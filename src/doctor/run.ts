import type { Finding, Installation } from './check.ts'
import { checkFileTypes } from './file-type.ts'
import { checkFileRequests, checkUploads, compareLedgerWithStore } from './ledger.ts'
import { checkMarks } from './mark.ts'
import { checkPictures, checkPreviews } from './preview.ts'
import { checkSearchIndex, checkTexts } from './text.ts'
import { checkBuckets, checkEntries, checkJobs, checkPurges, checkTrash } from './tree.ts'
import { checkVersions } from './version.ts'

export interface Summary {
  findings: number
  /** The number of repaired findings. */
  repaired: number
}

const checks = [
  compareLedgerWithStore,
  checkUploads,
  checkFileRequests,
  checkEntries,
  checkTrash,
  checkVersions,
  checkFileTypes,
  checkPreviews,
  checkPictures,
  checkTexts,
  checkSearchIndex,
  checkMarks,
  checkBuckets,
  checkPurges,
  checkJobs,
]

/**
 * Compares ledger and store in both directions, and the trees with their totals, page by page.
 * Memory is constant, and instances may keep running. With `repair`, repairs everything that can be
 * repaired without touching anything that an entry references.
 * @throws UNAVAILABLE, and other errors of the database or the store
 */
export async function examine(
  installation: Installation,
  { repair, onFinding }: { repair: boolean; onFinding: (finding: Finding) => void },
): Promise<Summary> {
  const summary: Summary = { findings: 0, repaired: 0 }
  for (const check of checks) {
    for await (const { repair: act, ...problem } of check(installation)) {
      const repaired = repair && act !== undefined && (await act()) !== false
      summary.findings++
      if (repaired) summary.repaired++
      onFinding({ ...problem, repaired })
    }
  }
  return summary
}
