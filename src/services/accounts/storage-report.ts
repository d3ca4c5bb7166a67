import {
  type AccountRow,
  largestAccounts,
  largestWorkspaces,
  type WorkspaceUsage,
} from '../../../db/queries/account.ts'
import { type StorageTotals, storageTotals } from '../../../db/queries/storage-report.ts'
import type { StoreSpace } from '../../storage/store.ts'
import type { Core } from '../core.ts'

/** The storage of the service, for operators. None of it authorizes. */
export function storageReportService({ db, store }: Core<'db' | 'store'>) {
  return {
    totals: (): Promise<StorageTotals> => storageTotals(db),

    /** The free space of the store. Null if unknown. */
    space: (): Promise<StoreSpace | null> => store.space(),

    /** The accounts and workspaces with the highest usage. */
    largestAccounts: (limit: number): Promise<AccountRow[]> => largestAccounts(db, limit),
    largestWorkspaces: (limit: number): Promise<WorkspaceUsage[]> => largestWorkspaces(db, limit),
  }
}
