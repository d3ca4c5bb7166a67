import {
  type AccountRow,
  largestAccounts,
  largestWorkspaces,
  type WorkspaceUsage,
} from '../../../db/queries/account.ts'
import { type StorageTotals, storageTotals } from '../../../db/queries/storage-report.ts'
import type { StoreSpace } from '../../storage/store.ts'
import type { Core } from '../core.ts'

/** The storage used by the service, for operators. None of it authorizes. */
export function storageReportService({ db, store }: Core<'db' | 'store'>) {
  return {
    totals: (): Promise<StorageTotals> => storageTotals(db),

    /** The free space of the store; null if the store cannot tell. */
    space: (): Promise<StoreSpace | null> => store.space(),

    /** The accounts that use most, and the workspaces. */
    largestAccounts: (limit: number): Promise<AccountRow[]> => largestAccounts(db, limit),
    largestWorkspaces: (limit: number): Promise<WorkspaceUsage[]> => largestWorkspaces(db, limit),
  }
}
