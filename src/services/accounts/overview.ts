import type { Entry } from '../../../db/models/entry.ts'
import { type OverviewRow, overviewRows } from '../../../db/queries/overview.ts'
import type { Role } from '../../access/roles.ts'
import { shareTitle } from '../../values/share-title.ts'
import type { Core } from '../core.ts'
import { SHARE_TOKEN } from '../sharing/share-link.ts'
import { INVITE_TOKEN } from '../workspaces/invite.ts'

/** The newest entries of a list, with its total count. */
export interface Newest<T> {
  total: number
  rows: T[]
}

/**
 * The overview of an account for its home page. Sizes in bytes, times in milliseconds since 1970.
 */
export interface Overview {
  planName: string
  usedBytes: number
  fileCount: number
  received: Newest<{
    token: string
    kind: Entry['kind']
    name: string
    fileType: string
    size: number
    sharedBy: { name: string; email: string; verified: boolean }
    seen: boolean
  }> & {
    unseen: number
  }
  invites: Newest<{ token: string; workspaceName: string; role: Role; expiresAt: number }>
  workspaces: Newest<{ id: string; name: string; role: Role }>
}

/** The default and the maximum number of entries that each list of the overview shows. */
const SHOWN = 5
const MOST = 1000

export function overviewService({ db, tokens }: Core<'db' | 'tokens'>) {
  return {
    /**
     * The overview of the user of a session. Null for an expired session. Does not check whether
     * the account is active. One statement.
     */
    async read(sessionHash: string, { all }: { all: boolean }): Promise<Overview | null> {
      const rows = await overviewRows(db, sessionHash, all ? MOST : SHOWN)
      const [bucket] = rows.filter(row => row.kind === 'bucket')
      if (!bucket) return null
      const list = <T>(kind: OverviewRow['kind'], show: (row: OverviewRow) => T) => {
        const of = rows.filter(row => row.kind === kind)
        return { total: Number(of[0]?.total ?? 0), rows: of.map(show) }
      }
      const shares = rows.filter(row => row.kind === 'share')
      return {
        planName: bucket.name,
        usedBytes: bucket.size,
        fileCount: bucket.total,
        received: {
          ...list(
            'share',
            ({ id, entryKind, entryCount, name, fileType, size, who, verified, seen }) => ({
              token: tokens.derive(SHARE_TOKEN, id),
              kind: entryKind,
              name: shareTitle(name, entryCount),
              fileType,
              size,
              sharedBy: { name: '', email: who, verified: verified !== null },
              seen: seen !== null,
            }),
          ),
          unseen: Number(shares[0]?.unseen ?? 0),
        },
        invites: list('invite', ({ id, name, role, at }) => ({
          token: tokens.derive(INVITE_TOKEN, id),
          workspaceName: name,
          role,
          expiresAt: at,
        })),
        workspaces: list('workspace', ({ id, name, role }) => ({ id, name, role })),
      }
    },
  }
}
