import type { Caller } from '../../access/caller.ts'
import { namesIn, pathOf } from '../../dav/address.ts'
import { type DavDeps, handleAt } from '../../dav/dav.ts'
import type { Face } from '../../dav/face.ts'
import type { Virtual } from '../../dav/place.ts'
import { propfind } from '../../dav/propfind.ts'
import { DavError, refusalOf } from '../../dav/refusal.ts'
import type { Incoming } from '../../http/incoming.ts'
import { type Passage, passage } from '../../http/threshold.ts'
import type { Services } from '../../services/index.ts'
import { isOf, notYours } from './files.ts'

/** A collection of the apps beside the files, such as the trash: `<route>/<user>/<names>`. */
export interface Collection {
  route: string
  /** What is in the collection with these names. Null if there is none. */
  list(
    services: Services,
    caller: Caller,
    names: readonly string[],
  ): Promise<Virtual['children'] | null>
}

/** A method of a collection. @returns the status of an empty response; null if it has responded */
type Method = (
  incoming: Incoming,
  caller: Caller,
  names: readonly string[],
) => Promise<number | null>

/** The user in a path below a route, and the names below the user. @throws DavError 404 */
export function readPath(path: string, route: string, caller: Caller): string[] {
  const [user = '', ...rest] = path
    .slice(route.length)
    .split('/')
    .filter(part => part !== '')
  if (!isOf(caller, user)) throw notYours()
  return namesIn(rest.join('/'))
}

/**
 * Checks the Destination of a restoration, which says only that the item is to be restored.
 * @throws DavError 400, 403, 502
 */
export function destinationIn({ req }: Incoming, { publicUrl }: DavDeps, route: string): void {
  const { destination } = req.headers
  if (destination === undefined)
    throw new DavError(400, 'Send the URL of the restored item in a Destination header.')
  const path = pathOf(destination.toString(), req, publicUrl())
  if (!new RegExp(`${route}/[^/]+/restore/`).test(path))
    throw new DavError(403, 'The destination is not in the folder "restore".')
}

/** The passages of a collection: PROPFIND, and further methods. */
export function collectionPassages(
  deps: DavDeps,
  { route, list }: Collection,
  methods: Partial<Record<'GET' | 'MOVE' | 'DELETE', Method>>,
): Map<string, Passage> {
  const { signIn } = deps
  const made = (handle: Passage<Caller>['handle'], writes: boolean) =>
    passage({
      route,
      guards: 'nothing',
      caller: signIn,
      body: 'whole',
      writes,
      handle,
      refuse: refusalOf,
    })

  async function find(incoming: Incoming, caller: Caller): Promise<void> {
    const { path } = incoming
    const names = readPath(path, route, caller)
    const [prefix = ''] = new RegExp(`^${route}/[^/]+`).exec(path) ?? []
    const face: Face = {
      prefix,
      segmentsOf: of => readPath(of, route, caller),
      async placeOf(services) {
        const children = await list(services, caller, names)
        if (!children) throw new DavError(404, 'There is nothing at this URL.')
        return { names, title: names.at(-1) ?? '', children }
      },
    }
    await handleAt(deps, { incoming, caller, face, path }, propfind)
  }

  const passages = new Map<string, Passage>([['PROPFIND', made(find, false)]])
  for (const [name, method] of Object.entries(methods)) {
    const handle = async (incoming: Incoming, caller: Caller) => {
      const status = await method(incoming, caller, readPath(incoming.path, route, caller))
      if (status === null) return
      incoming.res.writeHead(status, status === 204 ? {} : { 'content-length': 0 }).end()
    }
    passages.set(name, made(handle, name !== 'GET'))
    if (name === 'GET') passages.set('HEAD', made(handle, false))
  }
  return passages
}
