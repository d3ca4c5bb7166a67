import type { WorkspaceUsage } from '../db/queries/account.ts'
import type { StorageTotals } from '../db/queries/storage-report.ts'
import type { StoreSpace as Space } from '../src/storage/store.ts'
import { builder } from './builder.ts'
import { Account, accountOf, OperatorView } from './operator.ts'

/** A number that an operator can survey. */
const LARGEST = 10

const StoreSpace = builder.objectRef<Space>('StoreSpace').implement({
  description: 'The disk of the blob folder. Other data on the same disk is included.',
  fields: t => ({
    freeBytes: t.expose('freeBytes', { type: 'Bytes', description: 'Free bytes.' }),
    totalBytes: t.expose('totalBytes', { type: 'Bytes', description: 'Its size.' }),
  }),
})

const WorkspaceUse = builder.objectRef<WorkspaceUsage>('WorkspaceUse').implement({
  description: 'A workspace, and its usage.',
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
    maxBytes: t.expose('maxBytes', { type: 'Bytes', description: 'Maximum bytes of all files.' }),
    fileCount: t.exposeInt('files', { description: 'All files.' }),
  }),
})

const StorageReport = builder.objectRef<StorageTotals>('StorageReport').implement({
  description: 'The storage used by the service.',
  fields: t => ({
    usedBytes: t.expose('usedBytes', {
      type: 'Bytes',
      description: 'Bytes of all files, as quotas count them.',
    }),
    fileCount: t.exposeInt('fileCount', { description: 'All files.' }),
    folderCount: t.exposeInt('folderCount', { description: 'Number of folders, without roots.' }),
    leftBytes: t.expose('leftBytes', {
      type: 'Bytes',
      description:
        'The bytes that are kept for the owners of deleted accounts; included in the bytes of all files.',
    }),
    leftFileCount: t.exposeInt('leftFileCount', { description: 'How many files these are.' }),
    trashBytes: t.expose('trashBytes', {
      type: 'Bytes',
      description: 'Bytes of deleted entries that can be restored.',
    }),
    trashCount: t.exposeInt('trashCount', {
      description: 'How many deleted files and folders can be restored.',
    }),
    versionBytes: t.expose('versionBytes', { type: 'Bytes', description: 'Bytes of versions.' }),
    uploadBytes: t.expose('uploadBytes', {
      type: 'Bytes',
      description: 'Bytes reserved by unfinished uploads.',
    }),
    uploadCount: t.exposeInt('uploadCount', { description: 'How many uploads are unfinished.' }),
    deletingBytes: t.expose('deletingBytes', {
      type: 'Bytes',
      description:
        'Bytes that are no longer needed but not yet deleted from the store, without broken uploads.',
    }),
    deletingCount: t.exposeInt('deletingCount', {
      description: 'How many objects are not yet deleted from the store.',
    }),
    eventCount: t.exposeInt('eventCount', { description: 'How many events are kept.' }),
    space: t.field({
      type: StoreSpace,
      nullable: true,
      description:
        'The disk of the blob store; null if unknown, as with Azure Blob Storage and S3.',
      resolve: (_report, _args, { services }) => services.storageReports.space(),
    }),
    largestAccounts: t.field({
      type: [Account],
      description: 'Up to 10 accounts, those whose own files use the most storage.',
      resolve: (_report, _args, { services }) => services.storageReports.largestAccounts(LARGEST),
    }),
    largestWorkspaces: t.field({
      type: [WorkspaceUse],
      description: 'Up to 10 workspaces, those whose files use the most storage.',
      resolve: (_report, _args, { services }) => services.storageReports.largestWorkspaces(LARGEST),
    }),
  }),
})

builder.objectField(OperatorView, 'storageReport', t =>
  t.field({
    type: StorageReport,
    description: 'The storage used by the service.',
    resolve: (_root, _args, { services }) => services.storageReports.totals(),
  }),
)
