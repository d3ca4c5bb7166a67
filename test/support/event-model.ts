import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltService } from './built-service.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import { rest } from './harness.ts'
import { startServiceProcess } from './service-process.ts'

/** An event as readers receive it. */
export interface FedEvent {
  kind: string
  cursor: string
  subjectId: string
  details: { path: string | null; from: string | null; size: number | null }
}

const EVENT = 'kind cursor subjectId details { path from size }'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Anything = any

/**
 * A tree according to the feed: the paths of its folders (with a trailing slash) and of its files,
 * with their ids and bytes.
 */
export type Model = Map<string, string>
/**
 * The trash, by the id of each deleted item. Each value is a part of a tree, with paths relative to
 * the item.
 */
export type TrashModel = Map<string, Model>

/**
 * Applies an event to a model.
 * @throws Error if the event is impossible
 */
export function apply(
  model: Model,
  trash: TrashModel,
  { kind, subjectId, details }: FedEvent,
): void {
  const path = details.path ?? ''
  const need = (is: boolean, what: string) => {
    if (!is) throw new Error(`${kind} of ${path}: ${what}`)
  }
  const below = (folder: string) => [...model.keys()].filter(key => key.startsWith(`${folder}/`))
  // The event does not name the items. None of them can be restored any more.
  if (kind === 'TRASH_PURGED') return
  const [noun, verb] = kind.split('_')
  const keyOf = (at: string) => (noun === 'FOLDER' ? `${at}/` : at)
  if (verb === 'CREATED') {
    const parent = path.includes('/') ? `${path.slice(0, path.lastIndexOf('/'))}/` : null
    need(parent === null || model.has(parent), 'its folder is not there')
    need(!model.has(path) && !model.has(`${path}/`), 'it is there')
    model.set(keyOf(path), noun === 'FOLDER' ? subjectId : `${subjectId} ${details.size}`)
  } else if (verb === 'REPLACED' || kind === 'VERSION_RESTORED') {
    need(model.get(path)?.split(' ')[0] === subjectId, 'it is not there')
    model.set(path, `${subjectId} ${details.size}`)
  } else if (kind === 'VERSION_DELETED') {
    need(model.get(path)?.split(' ')[0] === subjectId, 'its file is not there')
  } else if (verb === 'DELETED') {
    need(model.has(keyOf(path)), 'it is not there')
    const goes = noun === 'FOLDER' ? below(path) : [path]
    trash.set(subjectId, new Map(goes.map(key => [key.slice(path.length), model.get(key) ?? ''])))
    for (const key of goes) model.delete(key)
  } else if (verb === 'RESTORED') {
    need(!model.has(path) && !model.has(`${path}/`), 'something is there')
    const parts = trash.get(subjectId)
    need(parts !== undefined, 'it was not deleted')
    for (const [rest, what] of parts ?? []) model.set(path + rest, what)
    trash.delete(subjectId)
  } else if (verb === 'MOVED' || verb === 'RENAMED') {
    const from = details.from ?? ''
    need(model.has(keyOf(from)), `it was not at ${from}`)
    need(!model.has(path) && !model.has(`${path}/`), 'something is there')
    for (const key of noun === 'FOLDER' ? below(from) : [from]) {
      model.set(path + key.slice(from.length), model.get(key) ?? '')
      model.delete(key)
    }
  } else throw new Error(`Unknown kind of event: ${kind}`)
}

/** The tree according to the service. */
async function treeOf(ask: (query: string) => Promise<Anything>): Promise<Model> {
  const model: Model = new Map()
  const walk = async (path: string) => {
    const page = `entries(first: 1000) { nodes { __typename id path size } }`
    const { me } = await ask(
      `{ me { drive { entry(path: ${JSON.stringify(path)}) { ... on Folder { ${page} } } } } }`,
    )
    for (const { __typename, id, path, size } of me.drive.entry.entries.nodes) {
      model.set(
        __typename === 'Folder' ? `${path}/` : path,
        __typename === 'Folder' ? id : `${id} ${size}`,
      )
      if (__typename === 'Folder') await walk(path)
    }
  }
  await walk('')
  return model
}

/** The load on a drive. */
export interface Load {
  writers: number
  /** The number of kills of an instance. */
  kills: number
  /** Milliseconds before each kill, and after the last one. */
  killEvery: number
}

/**
 * The results for a drive: the events of its feed, the events that a reconnecting subscriber
 * received, and its tree.
 */
export interface Told {
  fed: FedEvent[]
  followed: FedEvent[]
  tree: Model
  changes: number
  reconnects: number
}

/**
 * Runs writers that change one drive through two instances, while an instance is killed repeatedly
 * and a subscriber reconnects. Finally checks that usage, trash, ledger and store agree.
 */
export async function drive({ writers, kills, killEvery }: Load): Promise<Told> {
  const unhurried = {
    RATE_FOLDERS: '1000000',
    LEASE_SECONDS: '5',
    SWEEP_SECONDS: '2',
    SUBSCRIPTION_CHECK_SECONDS: '1',
  }
  const service = await startServiceProcess(unhurried)
  const instances: BuiltService[] = [service, await service.another()]
  try {
    const [alice] = await service.signIn('alice')
    if (!alice) throw new Error('Nobody has signed in.')
    const headers = { cookie: alice.cookie }
    const any = () => instances[randomInt(instances.length)]?.url ?? ''
    const ask = async (query: string, variables: object = {}) => {
      const response = await fetch(`${any()}/graphql`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      return ((await response.json()) as { data: Anything }).data
    }
    const cursor = (await ask('{ me { drive { eventCursor } } }')).me.drive.eventCursor as string
    let over = false
    let [changes, reconnects] = [0, 0]

    const name = () => `n${randomInt(6)}`
    const somewhere = () => Array.from({ length: 1 + randomInt(3) }, name).join('/')
    const change = (): Promise<{ status: number }> => {
      const at = (path: string) => ({ at: { path } })
      const does = (mutation: string, input: object) =>
        ask(mutation, { input }).then(data => ({
          status: Object.values(data ?? { none: null })[0] ? 200 : 400,
        }))
      const choices: (() => Promise<{ status: number }>)[] = [
        () => {
          const form = new FormData()
          const path = somewhere().split('/')
          form.append('folder', path.slice(0, -1).join('/'))
          form.append('on_conflict', ['fail', 'keep_both', 'replace'][randomInt(3)] ?? 'fail')
          form.append(
            'file',
            new File([`${Math.random()}`.slice(0, 2 + randomInt(8))], `f${path.at(-1)}`),
          )
          return rest(any(), 'POST', '/api/files/upload', { headers, form })
        },
        () => rest(any(), 'POST', '/api/folders', { headers, json: { path: somewhere() } }),
        () =>
          rest(any(), 'POST', '/api/folders/move', {
            headers,
            json: { source: somewhere(), destination: somewhere() },
          }),
        () => {
          const [source, destination] = [somewhere(), somewhere()].map(path =>
            path.replace(/n(\d)$/, 'fn$1'),
          )
          return rest(any(), 'POST', '/api/files/move', { headers, json: { source, destination } })
        },
        () => rest(any(), 'DELETE', `/api/folders?recursive=true&path=${somewhere()}`, { headers }),
        () =>
          does(
            'mutation ($input: MoveEntriesInput!) { moveEntries(input: $input) { entries { id } } }',
            {
              entries: [at(name()), at(`f${name()}`)],
              to: at(somewhere()),
            },
          ),
        () =>
          does(
            'mutation ($input: DeleteEntriesInput!) { deleteEntries(input: $input) { deletedIds } }',
            {
              entries: [at(`f${name()}`)],
            },
          ),
        async () => {
          const { items } = (await rest(any(), 'GET', '/api/trash?limit=20', { headers })).response
          const id = items[randomInt(items.length || 1)]?.id
          const json = { items: [id], on_conflict: ['fail', 'keep_both', 'replace'][randomInt(3)] }
          return rest(any(), 'POST', '/api/trash/restore', { headers, json })
        },
        async () => {
          const { items } = (await rest(any(), 'GET', '/api/trash?limit=20', { headers })).response
          return rest(any(), 'DELETE', '/api/trash/items', {
            headers,
            json: { items: [items.at(-1)?.id] },
          })
        },
      ]
      // Creates more than it deletes, so that entries remain to change.
      return (
        choices[randomInt(2) > 0 ? randomInt(2) : randomInt(choices.length)] ??
        (() => Promise.reject())
      )()
    }
    const write = async () => {
      while (!over) {
        const { status } = await change().catch(() => ({ status: 0 }))
        if (status === 200) changes++
        // The instance is down: polling without a pause would delay its restart.
        if (status === 0) await sleep(50)
      }
    }

    const followed: FedEvent[] = []
    let done = false
    const follow = async () => {
      let after = cursor
      const query = `subscription ($after: String) { driveEvents(after: $after) { ${EVENT} } }`
      const last = async () =>
        (await ask('{ me { drive { eventCursor } } }').catch(() => null))?.me.drive.eventCursor
      for (let since = Date.now(); !done || after !== (await last()); reconnects++) {
        if (done && Date.now() - since > 30_000) throw new Error('The subscriber did not catch up.')
        if (!done) since = Date.now()
        // Half of the time it sends last-event-id like a browser.
        const more = randomInt(2) === 0 ? { 'last-event-id': after } : {}
        const begin = 'last-event-id' in more ? cursor : after
        const stream = await openEventStream(
          any(),
          { ...headers, ...more },
          { query, variables: { after: begin } },
        ).catch((): EventStream | null => null)
        await sleep(50 + randomInt(1000))
        if (!stream) continue
        stream.close()
        await stream.ended
        followed.push(...stream.messages.flatMap(({ data }) => (data ? [data.driveEvents] : [])))
        after = stream.lastId() ?? after
      }
    }

    const kill = async () => {
      for (let n = 0; n < kills; n++) {
        await sleep(killEvery)
        const victim = instances[1]
        await victim?.end('SIGKILL')
        instances[1] = await service.another()
      }
      await sleep(killEvery)
    }

    const following = follow()
    await Promise.all([
      kill().finally(() => (over = true)),
      ...Array.from({ length: writers }, write),
    ])
    done = true
    await following

    const fed: FedEvent[] = []
    for (let after: string | null = null; ; ) {
      const page: Anything = await ask(
        `query ($after: String) { me { drive { events(first: 500, after: $after) { nodes { ${EVENT} } pageInfo { hasNextPage endCursor } } } } }`,
        { after },
      )
      const { nodes, pageInfo } = page.me.drive.events
      fed.push(...nodes)
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
    }
    const tree = await treeOf(ask)
    await service.expectHealed()
    return { fed, followed, tree, changes, reconnects }
  } finally {
    await service.stop()
  }
}

/** The number in a cursor. */
export const seqOf = ({ cursor }: FedEvent): number =>
  JSON.parse(Buffer.from(cursor, 'base64url').toString())[1]
