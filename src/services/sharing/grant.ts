import { validate as isUuid } from 'uuid'
import { SERVICE_LOG } from '../../../db/models/event.ts'
import { lockBucket } from '../../../db/queries/bucket.ts'
import { closeRequest } from '../../../db/queries/file-request.ts'
import {
  type GrantRow,
  listGrants,
  openRequestsByIds,
  type GrantFilter as RowFilter,
} from '../../../db/queries/grant.ts'
import { mapPage, type Page } from '../../../db/queries/page.ts'
import { sharesOfSharer } from '../../../db/queries/share.ts'
import type { Caller } from '../../access/caller.ts'
import { InvalidInput } from '../../runtime/errors.ts'
import type { SharingRule } from '../../values/grant.ts'
import { shareTitle } from '../../values/share-title.ts'
import type { Core } from '../core.ts'
import { changeRunner, operatorOf } from '../history/event.ts'
import { deleteForGood } from './share-end.ts'
import { boundsOf, brokenRules, type SharingRules } from './sharing-rule.ts'

/** Filters grants. Omitted fields match everything. */
export interface GrantFilter extends Omit<RowFilter, 'outOf'> {
  /** Only grants that break a rule of the settings. */
  breaksRules?: boolean
}

type Flag = 'isFolder' | 'hasPassword' | 'mayEdit' | 'isPaused'

/** A grant as operators see it. Times are in milliseconds since 1970. */
export interface GrantView extends Omit<GrantRow, Flag>, Record<Flag, boolean> {
  /** The rules that it breaks now: rules apply to what is made or renewed after them. */
  brokenRules: SharingRule[]
}

const toView = (
  { isFolder, hasPassword, mayEdit, isPaused, ...row }: GrantRow,
  rules: SharingRules,
): GrantView => ({
  ...row,
  brokenRules: brokenRules(rules, { ...row, hasPassword: Boolean(hasPassword) }, row.planId),
  name: shareTitle(row.name, row.entryCount),
  isFolder: Boolean(isFolder),
  hasPassword: Boolean(hasPassword),
  mayEdit: Boolean(mayEdit),
  isPaused: Boolean(isPaused),
})

/**
 * The links, shares and file requests of all people, for operators (docs/decisions/grants.md). None
 * of it authorizes.
 */
export function grantService({
  db,
  change = changeRunner({ db }),
  ...rules
}: Core<'db'> & Partial<Core<'change'>> & SharingRules) {
  const read = ({ breaksRules, ...filter }: GrantFilter): RowFilter => {
    const id = (value: string | null | undefined, field: string) => {
      if (value && !isUuid(value))
        throw new InvalidInput(field, 'This is no id. Use one from a list.')
      return value?.toLowerCase() ?? null
    }
    return {
      ...filter,
      ...(breaksRules ? { outOf: boundsOf(rules) } : {}),
      userId: id(filter.userId, 'filter.person'),
      workspaceId: id(filter.workspaceId, 'filter.workspace'),
    }
  }

  return {
    /**
     * A page of the grants that have not ended, newest first. Each page is recorded in the audit
     * trail, because it shows names of files.
     * @param by null for the command line of the service
     * @throws INVALID_INPUT
     */
    async page(
      filter: GrantFilter,
      by: Caller | null,
      limit: number,
      after: string | null,
    ): Promise<Page<GrantView>> {
      const wanted = read(filter)
      await change(operatorOf(by), async ({ record }) =>
        record(SERVICE_LOG, { kind: 'grants.read', subject: wanted.userId ?? null }),
      )
      return mapPage(await listGrants(db, wanted, limit, after), row => toView(row, rules))
    },

    /**
     * Ends grants of any people for good. Skips ids of grants that have ended. Each end is an event
     * in the log of its drive, which the people concerned can read.
     * @param by null for the command line of the service
     * @returns the ids of the grants that ended now
     */
    async end(given: readonly string[], by: Caller | null): Promise<string[]> {
      const ids = [...new Set(given.map(id => id.toLowerCase()))].filter(id => isUuid(id))
      if (ids.length === 0) return []
      const shares = await change(operatorOf(by), async of =>
        deleteForGood(db, of, await sharesOfSharer(db, null, { ids }, of.tx)),
      )
      const requests = await change(operatorOf(by), async ({ tx, record }) => {
        const closed: string[] = []
        const found = await openRequestsByIds(db, ids, tx)
        const byDrive = Map.groupBy(found, ({ bucketId }) => bucketId)
        // In one order, so that two such changes do not deadlock.
        for (const bucketId of [...byDrive.keys()].sort()) {
          await lockBucket(db, bucketId, tx)
          for (const { id, folderId, label } of byDrive.get(bucketId) ?? []) {
            if (!(await closeRequest(db, id, Date.now(), tx))) continue
            const details = { entryId: folderId, name: label }
            record(bucketId, { kind: 'file_request.closed', subject: id, details })
            closed.push(id)
          }
        }
        return closed
      })
      return [...shares, ...requests]
    },
  }
}
