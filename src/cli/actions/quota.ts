import type { Client } from '../client.ts'
import { Failure } from '../failure.ts'
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

const stored = (used: number, max: number): string[] => [
  'stored',
  bytes(used),
  `of ${bytes(max)}`,
  share(used, max),
]

export async function quota(context: Context, workspace: string | undefined): Promise<Answer> {
  const service = await open(context)
  if (workspace !== undefined) {
    const id = await workspaceId(service, workspace)
    const q = await workspaceQuota(service.workspace(id), id)
    const rows = [
      stored(q.totalBytes, q.maxTotalStorageBytesWorkspace),
      counted('files', q.fileCount, q.maxFilesWorkspace),
      counted('folders', q.folderCount, q.maxWorkspaceFolders),
      counted('members', q.memberCount, q.maxUsersWorkspace),
      counted('keys', q.apiKeyCount, q.maxWorkspaceApiKeys),
    ]
    return { fact: { workspaceId: id, ...q }, words: table([], rows) }
  }
  const { email, plan, drive } = (await service.personal.request(QuotaDocument, {})).me
  const { usedBytes, fileCount, folderCount, maxBytes, maxFiles, maxFileSize } = drive.usage
  const rows = [
    stored(usedBytes, maxBytes),
    counted('files', fileCount, maxFiles),
    ['folders', String(folderCount)],
    ['a file', `up to ${bytes(maxFileSize)}`],
    ['plan', plan.name],
  ]
  return {
    fact: {
      email,
      plan: plan.name,
      maxFileSizeBytes: maxFileSize,
      usedBytes,
      fileCount,
      folderCount,
      maxTotalStorageBytes: maxBytes,
      maxFiles,
    },
    words: table([], rows),
  }
}

async function workspaceQuota(client: Client, id: string) {
  const { workspace } = await client.request(WorkspaceQuotaDocument, { workspace: id })
  const { memberCount, maxMembers, apiKeyCount, maxApiKeys, drive } = workspace
  // These are null only if there was an error.
  if (
    !drive ||
    memberCount === null ||
    maxMembers === null ||
    apiKeyCount === null ||
    maxApiKeys === null
  )
    throw new Failure('BAD_ANSWER', 'The response of the service has no data.')
  const { usedBytes, fileCount, folderCount, maxBytes, maxFiles, maxFolders } = drive.usage
  return {
    fileCount,
    totalBytes: usedBytes,
    folderCount,
    memberCount,
    apiKeyCount,
    maxFilesWorkspace: maxFiles,
    maxTotalStorageBytesWorkspace: maxBytes,
    maxWorkspaceFolders: maxFolders,
    maxUsersWorkspace: maxMembers,
    maxWorkspaceApiKeys: maxApiKeys,
  }
}
