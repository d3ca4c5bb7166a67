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

/** What has no id of its own is a part of what it is in. */
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
  PhotoDetails: embedded,
  PhotoPlace: embedded,
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
  Finding: embedded,
  JobQueue: embedded,
  ServiceHealth: embedded,
  ServiceInstance: embedded,
  ServiceWorker: embedded,
  StorageForecast: embedded,
  TimedWork: embedded,
  UnexpectedError: embedded,
}

/** An entry as the cache has it, with a change that the service has yet to confirm. */
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

/** What mutations will have answered, shown until they do. */
const optimistic: OptimisticMutationConfig = {
  moveEntries(args, cache) {
    const { entries, name } = args.input as { entries: { id?: string }[]; name?: string }
    // What is shared is named by its path.
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
 * Every node once, whatever has asked for it. The payload of a mutation holds what it has changed
 * (docs/graphql.md); only lists that would be long to ask for again are updated by hand.
 */
export const cache = cacheExchange({
  schema: readSchema(schema),
  keys,
  optimistic,
  updates: { Mutation: listUpdates, Subscription: liveUpdates },
})
