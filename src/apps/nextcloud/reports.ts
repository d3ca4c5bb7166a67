import { FOLDER } from '../../../db/models/entry.ts'
import type { Caller } from '../../access/caller.ts'
import { hrefOf } from '../../dav/address.ts'
import type { DavDeps } from '../../dav/dav.ts'
import { lettersOf } from '../../dav/letters.ts'
import { type Described, propertyWriter } from '../../dav/properties.ts'
import { propertiesIn } from '../../dav/propfind.ts'
import type { Resource } from '../../dav/reading.ts'
import { DavError, refusalOf } from '../../dav/refusal.ts'
import {
  childOf,
  type Element,
  elementsOf,
  isDav,
  multistatus,
  OWNCLOUD,
  readXml,
  responseOf,
  textOf,
} from '../../dav/xml.ts'
import type { Incoming } from '../../http/incoming.ts'
import { type Passage, passage } from '../../http/threshold.ts'
import { write } from '../../http/write.ts'
import { drivesOf, type ShownDrive } from './drives.ts'
import { filesFace } from './files.ts'

/** The maximum number of entries in a response. */
const MAX_FOUND = 1000

/** An entry that was found, with its drive. */
interface Found extends ShownDrive {
  entry: Resource & { names: string[] }
}

/** Writes the requested properties of entries that were found. */
async function answer(
  { services }: DavDeps,
  { req, res }: Incoming,
  { caller, prefix, prop }: { caller: Caller; prefix: string; prop: Element | undefined },
  found: readonly Found[],
): Promise<void> {
  const properties = prop ? propertiesIn(prop) : []
  const writer = propertyWriter({ kind: 'some', properties })
  const ids = found.map(({ entry }) => entry.id)
  const marked = await services.favourites.entriesAmong(caller, ids)
  const responses = found.map(({ drive, base, entry }) => {
    const isFolder = entry.kind === FOLDER
    const described: Described = {
      resource: entry,
      title: entry.name,
      createdAt: entry.createdAt,
      locks: [],
      dead: new Map(),
      quota: null,
      letters: lettersOf({ drive, base }, { isFolder, isRoot: entry.names.length === 0 }),
      isFavourite: marked.has(entry.id),
      hasPreview: ({ contentType, size }) =>
        services.previews.isFor({ fileType: contentType, size }),
    }
    return responseOf(hrefOf(prefix, [...base, ...entry.names], isFolder), writer(described))
  })
  write(res, req, multistatus(responses))
}

/** The favourites of the caller in their drives, as REPORT `filter-files` asks for them. */
async function favourites({ services }: DavDeps, caller: Caller): Promise<Found[]> {
  const marked = (await services.favourites.list(caller)).flatMap(({ entryId }) => entryId ?? [])
  const [drives, entries] = [
    await drivesOf(services, caller),
    await services.entryLists.byIds(marked),
  ]
  const byId = new Map(drives.map(shown => [shown.drive.id, shown]))
  return marked.flatMap(id => {
    const entry = entries.get(id)
    const shown = entry && byId.get(entry.bucketId)
    return shown ? [{ ...shown, entry }] : []
  })
}

/** The conditions of a SEARCH. */
interface Search {
  /** Whether it is limited to pictures and videos. */
  isMedia: boolean
  /** A part of the name; undefined for any. */
  name: string | undefined
  /** Times in milliseconds. */
  since: number | null
  until: number | null
  limit: number
}

/** All elements below an element. */
const below = (element: Element): Element[] =>
  elementsOf(element).flatMap(child => [child, ...below(child)])

/** A time in seconds or milliseconds since 1970, or a date. */
function timeOf(text: string): number | null {
  const number = Number(text)
  const time = Number.isNaN(number) ? Date.parse(text) : number < 1e11 ? number * 1000 : number
  return Number.isNaN(time) ? null : time
}

/**
 * Reads the parts of a basicsearch (RFC 5323) that the apps send: a type, a name, and a range of
 * times, joined by `and` and `or`.
 * @throws DavError 400
 */
function readSearch(body: Element): { search: Search; prop: Element | undefined } {
  const basic = isDav(body, 'searchrequest') ? childOf(body, 'basicsearch') : undefined
  if (!basic) throw new DavError(400, 'The body is not a searchrequest with a basicsearch.')
  const [select, where, bound] = ['select', 'where', 'limit'].map(name => childOf(basic, name))
  const search: Search = {
    isMedia: false,
    name: undefined,
    since: null,
    until: null,
    limit: MAX_FOUND,
  }
  for (const term of where ? below(where) : []) {
    const prop = childOf(term, 'prop')
    const [named] = prop ? elementsOf(prop) : []
    const literal = childOf(term, 'literal')
    if (!named || !literal) continue
    const text = textOf(literal).trim()
    const time = ['getlastmodified', 'creationdate', 'upload_time'].includes(named.name)
      ? timeOf(text)
      : null
    if (named.name === 'getcontenttype' && /^(?:image|video)\//.test(text)) search.isMedia = true
    else if (named.name === 'displayname') search.name = text.replaceAll('%', '')
    else if (time !== null && ['gt', 'gte'].includes(term.name)) search.since = time
    else if (time !== null && ['lt', 'lte'].includes(term.name)) search.until = time
  }
  const nresults = Number(bound && textOf(childOf(bound, 'nresults') ?? bound))
  if (nresults >= 1) search.limit = Math.min(MAX_FOUND, Math.floor(nresults))
  return { search, prop: select && childOf(select, 'prop') }
}

/**
 * The entries of the caller's own drive that a SEARCH asks for. @throws DavError 400, RATE_LIMITED
 */
async function search(
  { services }: DavDeps,
  caller: Caller,
  { isMedia, name, since, until, limit }: Search,
): Promise<Found[]> {
  const [own] = await drivesOf(services, caller)
  if (!own) return []
  const { tree } = own.drive.open('read')
  if (isMedia) {
    const { rows } = await services.pictures.page(tree, { since, until, skip: 0 }, limit, null)
    return rows.map(entry => ({ ...own, entry }))
  }
  if (name === undefined || name === '')
    throw new DavError(400, 'Search for pictures and videos, or for a part of a name.')
  await services.rateLimits.hit('searches', caller.userId, {})
  const { rows } = await services.entryLists.search(tree, name, limit, null)
  return rows.map(entry => ({ ...own, entry }))
}

/** REPORT for favourites, and SEARCH for the media view and for names. */
export function reportPassages(deps: DavDeps): Map<string, Passage> {
  const made = (handle: Passage<Caller>['handle']) =>
    passage({
      route: '/remote.php/dav',
      guards: 'nothing',
      caller: deps.signIn,
      body: 'whole',
      writes: false,
      handle,
      refuse: refusalOf,
    })

  async function report(incoming: Incoming, caller: Caller): Promise<void> {
    const face = filesFace(incoming.path, caller)
    face.segmentsOf(incoming.path)
    const body = await readXml(incoming.req)
    const isFilter = body?.ns === OWNCLOUD && body.name === 'filter-files'
    const rules = isFilter ? below(body).filter(({ ns }) => ns === OWNCLOUD) : []
    const isAsked = rules.some(one => one.name === 'favorite' && textOf(one).trim() === '1')
    if (!body || !isAsked)
      throw new DavError(400, 'REPORT lists favourites: send filter-files with favorite 1.')
    const asked = { caller, prefix: face.prefix, prop: childOf(body, 'prop') }
    await answer(deps, incoming, asked, await favourites(deps, caller))
  }

  async function find(incoming: Incoming, caller: Caller): Promise<void> {
    const body = await readXml(incoming.req)
    if (!body) throw new DavError(400, 'The body is not a searchrequest with a basicsearch.')
    const { search: asked, prop } = readSearch(body)
    const prefix = `/remote.php/dav/files/${encodeURIComponent(caller.email)}`
    await answer(deps, incoming, { caller, prefix, prop }, await search(deps, caller, asked))
  }

  return new Map([
    ['REPORT', made(report)],
    ['SEARCH', made(find)],
  ])
}
