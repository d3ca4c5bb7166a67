import { workspaceId } from '../find-place.ts'
import { QuotaDocument, WorkspaceQuotaDocument } from '../generated.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, table } from '../table.ts'

const share = (used: number, max: number | null): string =>
  max === null ? 'unlimited' : `${max === 0 ? 100 : Math.floor((used / max) * 100)}%`

const counted = (name: string, used: number, max: number | null): string[] => [
  name,
  String(used),
  max === null ? '' : `of ${max}`,
  share(used, max),
]

const stored = (used: number, max: number): string[] => ['stored', bytes(used), `of ${bytes(max)}`, share(used, max)]

export async function quota(context: Context, workspace: string | undefined): Promise<Answer> {
  const service = await open(context)
  if (workspace !== undefined) {
    const id = await workspaceId(service, workspace)
    const { workspaceQuota: q } = await service.workspace(id).request(WorkspaceQuotaDocument, { workspaceId: id })
    const rows = [
      stored(q.totalBytes, q.maxTotalStorageBytesWorkspace),
      counted('files', q.fileCount, q.maxFilesWorkspace),
      counted('folders', q.folderCount, q.maxWorkspaceFolders),
      counted('members', q.memberCount, q.maxUsersWorkspace),
      counted('keys', q.apiKeyCount, q.maxWorkspaceApiKeys),
    ]
    return { fact: { workspaceId: id, ...q }, words: table([], rows) }
  }
  const { me } = await service.personal.request(QuotaDocument, {})
  const { usedBytes, fileCount, folderCount, maxTotalStorageBytes, maxFiles } = me.usage
  const rows = [
    stored(usedBytes, maxTotalStorageBytes),
    counted('files', fileCount, maxFiles),
    ['folders', String(folderCount)],
    ['a file', `up to ${bytes(me.plan.maxFileSizeBytes)}`],
    ['plan', me.plan.name],
  ]
  return {
    fact: { email: me.email, plan: me.plan.name, maxFileSizeBytes: me.plan.maxFileSizeBytes, ...me.usage },
    words: table([], rows),
  }
}
