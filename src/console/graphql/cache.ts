import schema from 'virtual:graph'
import {
  type Cache,
  cacheExchange,
  type KeyingConfig,
  type OptimisticMutationConfig,
} from '@urql/exchange-graphcache'
import { readSchema } from './brief-schema.ts'
import { listUpdates, liveUpdates } from './lists.ts'

const embedded = () => null

/** Types without an id are embedded in their parent. */
const keys: KeyingConfig = {
  AccountIdentity: embedded,
  AppliedLimit: embedded,
  AccountWorkspace: embedded,
  ChangedLimit: embedded,
  CompletionFailure: embedded,
  CopyFailure: embedded,
  DailyCount: embedded,
  Download: embedded,
  DriveUsage: embedded,
  EventDetails: embedded,
  Limits: embedded,
  LoginRequest: embedded,
  MailQueue: embedded,
  Maintenance: embedded,
  Operator: embedded,
  OperatorView: embedded,
  PhotoDetails: embedded,
  PhotoPlace: embedded,
  PersonAccess: ({ email }) => email as string,
  PictureMonth: embedded,
  Preview: embedded,
  PlanUse: embedded,
  RecentEntry: embedded,
  SearchHint: embedded,
  SearchResult: embedded,
  SearchSnippet: embedded,
  SharedEntry: embedded,
  SharedFolder: embedded,
  ShareEvent: embedded,
  SharePreview: embedded,
  ShareRecipient: embedded,
  SnippetRange: embedded,
  Statistics: embedded,
  StorageReport: embedded,
  StoreSpace: embedded,
  UploadCompletion: embedded,
  UploadPart: embedded,
  WebhookDelivery: embedded,
  WorkspaceUse: embedded,
  DriveFill: embedded,
  ErrorCount: embedded,
  FigureSeries: embedded,
  FileRequestReceipt: embedded,
  FileRequestSender: embedded,
  FilesView: embedded,
  Finding: embedded,
  JobQueue: embedded,
  ServiceHealth: embedded,
  ServiceInstance: embedded,
  ServiceWorker: embedded,
  StorageForecast: embedded,
  TimedWork: embedded,
  UnexpectedError: embedded,
}

/** A cached entry with a change that the service has not confirmed yet. */
function changedEntry(cache: Cache, id: string, change: Record<string, string>) {
  const __typename =
    cache.resolve({ __typename: 'Folder', id }, 'name') === undefined ? 'File' : 'Folder'
  const own = __typename === 'File' ? ['contentType'] : ['fileCount']
  const fields = [
    'name',
    'path',
    'size',
    'createdAt',
    'updatedAt',
    'shareCount',
    'isFavourite',
    ...own,
  ]
  const known = Object.fromEntries(
    fields.map(field => [field, cache.resolve({ __typename, id }, field)]),
  )
  const tagKeys = cache.resolve({ __typename, id }, 'tags')
  const tags = (Array.isArray(tagKeys) ? (tagKeys as string[]) : []).map(key => ({
    __typename: 'Tag',
    ...Object.fromEntries(
      ['id', 'name', 'colour'].map(field => [field, cache.resolve(key, field)]),
    ),
  }))
  return { ...known, tags, ...change, __typename, id }
}

/** Optimistic results, shown until the mutation responds. */
const optimistic: OptimisticMutationConfig = {
  moveEntries(args, cache) {
    const { entries, name } = args.input as { entries: { id?: string }[]; name?: string }
    // Entries of shares are identified by path, not id.
    const ids = entries.flatMap(({ id }) => id ?? [])
    if (!name || ids.length === 0) return null
    const renamed = ids.map(id => changedEntry(cache, id, { name }))
    return { __typename: 'MoveEntriesPayload', entries: renamed, from: null, to: null }
  },
  writeNote(args, cache) {
    const { file: id, content } = args.input as { file: string; content: string }
    return {
      __typename: 'WriteNotePayload',
      file: { ...changedEntry(cache, id, { note: content }) },
    }
  },
}

/**
 * The normalised cache: it stores each node once. Mutation payloads contain the changed nodes
 * (docs/graphql.md). Lists that would be expensive to refetch are updated by hand.
 */
export const cache = cacheExchange({
  schema: readSchema(schema),
  keys,
  optimistic,
  updates: { Mutation: listUpdates, Subscription: liveUpdates },
})
