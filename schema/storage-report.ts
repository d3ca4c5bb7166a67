import type { WorkspaceUsage } from '../db/queries/account.ts'
import type { StorageTotals } from '../db/queries/storage-report.ts'
import type { StoreSpace as Space } from '../src/storage/store.ts'
import { builder } from './builder.ts'
import { Account, accountOf } from './operator.ts'

/** As many as an operator looks through. */
const LARGEST = 10

const StoreSpace = builder.objectRef<Space>('StoreSpace').implement({
  description: 'The disk that the bytes of files are on, with everything else that is on it.',
  fields: t => ({
    freeBytes: t.expose('freeBytes', { type: 'Bytes', description: 'What can still be written.' }),
    totalBytes: t.expose('totalBytes', { type: 'Bytes', description: 'Its size.' }),
  }),
})

const WorkspaceUse = builder.objectRef<WorkspaceUsage>('WorkspaceUse').implement({
  description: 'A workspace, and how much it holds.',
  fields: t => ({
    workspaceId: t.exposeID('id', { description: 'The id of the workspace.' }),
    name: t.exposeString('name', { description: 'The name of the workspace.' }),
    slug: t.exposeString('slug', { description: 'The slug of the workspace.' }),
    owner: t.field({
      type: Account,
      description: 'The account whose plan limits it.',
      resolve: ({ ownerId }, _args, context) => accountOf(context, ownerId),
    }),
    usedBytes: t.expose('usedBytes', { type: 'Bytes', description: 'Bytes of all files.' }),
    keptBytes: t.expose('keptBytes', {
      type: 'Bytes',
      description: 'Bytes that the trash and versions of files keep beyond the usage.',
    }),
    maxBytes: t.expose('maxBytes', { type: 'Bytes', description: 'Bytes that all files may have.' }),
    fileCount: t.exposeInt('files', { description: 'All files.' }),
  }),
})

const StorageReport = builder.objectRef<StorageTotals>('StorageReport').implement({
  description: 'What takes the space of the service.',
  fields: t => ({
    usedBytes: t.expose('usedBytes', { type: 'Bytes', description: 'Bytes of all files, as quotas count them.' }),
    fileCount: t.exposeInt('fileCount', { description: 'All files.' }),
    folderCount: t.exposeInt('folderCount', { description: 'All folders but roots.' }),
    leftBytes: t.expose('leftBytes', {
      type: 'Bytes',
      description: 'Of the bytes of all files, those that are kept for the owners of deleted accounts.',
    }),
    leftFileCount: t.exposeInt('leftFileCount', { description: 'How many files are.' }),
    trashBytes: t.expose('trashBytes', {
      type: 'Bytes',
      description: 'Bytes of what was deleted and can be restored.',
    }),
    trashCount: t.exposeInt('trashCount', { description: 'How many files and folders can be restored.' }),
    versionBytes: t.expose('versionBytes', { type: 'Bytes', description: 'Bytes of replaced contents that are kept.' }),
    uploadBytes: t.expose('uploadBytes', { type: 'Bytes', description: 'Bytes reserved by uploads under way.' }),
    uploadCount: t.exposeInt('uploadCount', { description: 'How many uploads are under way.' }),
    deletingBytes: t.expose('deletingBytes', {
      type: 'Bytes',
      description:
        'Bytes that nothing needs any more, and that the store is still to delete; without those of broken uploads.',
    }),
    deletingCount: t.exposeInt('deletingCount', { description: 'How many objects the store is still to delete.' }),
    eventCount: t.exposeInt('eventCount', { description: 'How many events are kept.' }),
    space: t.field({
      type: StoreSpace,
      nullable: true,
      description: 'The room of the blob store; null where that cannot tell, as Azure Blob Storage.',
      resolve: (_report, _args, { services }) => services.storageReports.space(),
    }),
    largestAccounts: t.field({
      type: [Account],
      description: 'The accounts whose own files take most, at most 10.',
      resolve: (_report, _args, { services }) => services.storageReports.largestAccounts(LARGEST),
    }),
    largestWorkspaces: t.field({
      type: [WorkspaceUse],
      description: 'The workspaces whose files take most, at most 10.',
      resolve: (_report, _args, { services }) => services.storageReports.largestWorkspaces(LARGEST),
    }),
  }),
})

builder.queryField('storageReport', t =>
  t.withAuth({ operator: true }).field({
    type: StorageReport,
    description: 'What takes the space of the service. For operators.',
    resolve: (_root, _args, { services }) => services.storageReports.totals(),
  }),
)
