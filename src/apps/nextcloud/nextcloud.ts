import { logSecurityEvent } from '../../access/audit-log.ts'
import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import { type DavDeps, davPassages, passageFor } from '../../dav/dav.ts'
import { refusalOf } from '../../dav/refusal.ts'
import { readWhole } from '../../http/body.ts'
import type { ShownBrand } from '../../http/brand.ts'
import { nobody } from '../../http/callers.ts'
import { jsonHeaders } from '../../http/envelope.ts'
import type { Incoming } from '../../http/incoming.ts'
import { methodNotAllowed } from '../../http/method.ts'
import {
  type DoorPlan,
  doorOf,
  nothingHere,
  openPassage,
  type Passage,
  passage,
} from '../../http/threshold.ts'
import { write } from '../../http/write.ts'
import { Forbidden, InvalidInput } from '../../runtime/errors.ts'
import { parseJson } from '../../values/json.ts'
import { capabilities, type Rules, status } from './capabilities.ts'
import { filesFace } from './files.ts'
import { loginFlow } from './login-flow.ts'
import { notOffered, type OcsValue, ocs, ocsRefusal } from './ocs.ts'
import { sendPreview } from './previews.ts'
import { reportPassages } from './reports.ts'
import { type Form, ocsShares } from './shares.ts'
import { trashPassages } from './trash.ts'
import { UPLOADS, uploadPassages } from './uploads.ts'
import { versionPassages } from './versions.ts'

const SHARES = '/apps/files_sharing/api/v1'
const MAX_FORM_BYTES = 64 * 1024

/** A route of the Open Collaboration Services, below /ocs/v1.php and /ocs/v2.php. */
interface OcsRoute {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path; `{id}` at its end is a number. */
  path: string
  writes: boolean
  handle(request: { incoming: Incoming; id: string }, caller: Caller): Promise<OcsValue>
}

/** The values of the query and of a form in the body. @throws INVALID_INPUT */
async function formOf({ req, query }: Incoming): Promise<Form> {
  const bytes = await readWhole(req, MAX_FORM_BYTES, {
    tooLarge: () => new InvalidInput('body', 'A form may have up to 64 KiB.'),
    broken: () => new InvalidInput('body', 'The form ended before it was complete. Send it again.'),
  })
  const text = bytes.toString('utf8')
  const json = /^application\/json\b/i.test(req.headers['content-type'] ?? '')
  const given = json ? parseJson(text) : undefined
  const values = new Map<string, string>(query)
  if (given !== null && typeof given === 'object')
    for (const [name, value] of Object.entries(given))
      if (value !== null && typeof value !== 'object') values.set(name, String(value))
  if (!json) for (const [name, value] of new URLSearchParams(text)) values.set(name, value)
  return name => values.get(name)
}

/**
 * The protocol of Nextcloud's and ownCloud's clients (docs/decisions/nextcloud.md): WebDAV with
 * their additions, sign-in and capabilities. The clients find it at fixed URLs.
 */
export function createNextcloud(deps: DavDeps & { brand: ShownBrand; config: Rules }): DoorPlan[] {
  const { services, publicUrl, signIn, brand, config } = deps

  const shares = ocsShares(services)
  const query =
    ({ query }: Incoming): Form =>
    name =>
      query.get(name) ?? undefined
  const routes: OcsRoute[] = [
    {
      method: 'GET',
      path: '/cloud/user',
      writes: false,
      handle: async (_request, caller) => userOf(deps, caller),
    },
    {
      method: 'DELETE',
      path: '/core/apppassword',
      writes: false,
      async handle({ incoming: { log } }, caller) {
        await services.apiKeys.removeItself(caller)
        logSecurityEvent({ log, caller }, 'key_deleted', { key_id: caller.credentialId })
        return []
      },
    },
    {
      method: 'GET',
      path: '/core/getapppassword',
      writes: false,
      async handle() {
        throw new Forbidden('You are signed in with an API key already.')
      },
    },
    {
      method: 'GET',
      path: `${SHARES}/shares`,
      writes: false,
      handle: ({ incoming }, caller) => shares.list(caller, query(incoming)),
    },
    {
      method: 'POST',
      path: `${SHARES}/shares`,
      writes: true,
      handle: async ({ incoming }, caller) => shares.create(caller, await formOf(incoming)),
    },
    {
      method: 'GET',
      path: `${SHARES}/shares/{id}`,
      writes: false,
      handle: ({ id }, caller) => shares.get(caller, id),
    },
    {
      method: 'PUT',
      path: `${SHARES}/shares/{id}`,
      writes: true,
      handle: async ({ incoming, id }, caller) => shares.update(caller, id, await formOf(incoming)),
    },
    {
      method: 'DELETE',
      path: `${SHARES}/shares/{id}`,
      // A link that others may have can be ended during maintenance, too.
      writes: false,
      handle: ({ id }, caller) => shares.remove(caller, id),
    },
    {
      method: 'GET',
      path: `${SHARES}/sharees`,
      writes: false,
      handle: ({ incoming }, caller) => shares.sharees(caller, query(incoming)),
    },
  ]

  const open = passage<null>({
    route: '/ocs/cloud/capabilities',
    methods: ['GET'],
    guards: 'nothing',
    caller: nobody,
    writes: false,
    handle: incoming =>
      write(incoming.res, incoming.req, ocs(incoming, capabilities(publicUrl(), brand, config))),
  })
  const signedIn = new Map(
    [...Map.groupBy(routes, ({ path }) => path)].map(([path, of]) => [
      path,
      new Map(
        of.map(({ method, writes, handle }) => [
          method as string,
          passage<Caller>({
            route: `/ocs${path}`,
            guards: 'nothing',
            caller: signIn,
            writes,
            async handle(incoming, caller) {
              const id = incoming.path.split('/').at(-1) ?? ''
              const value = await handle({ incoming, id }, caller)
              write(incoming.res, incoming.req, ocs(incoming, value))
            },
          }),
        ]),
      ),
    ]),
  )

  const files = davPassages(deps, '/remote.php/dav', ({ path }, caller) => filesFace(path, caller))
  const reports = reportPassages(deps)
  /** The collections beside the files, by the path in front of the user. */
  const collections = Object.entries({
    [UPLOADS]: uploadPassages(deps),
    '/remote.php/dav/trashbin': trashPassages(deps),
    '/remote.php/dav/versions': versionPassages(deps),
  })
  const logins = loginFlow(services, publicUrl)
  const connectivity = openPassage('/index.php/204', ({ res }) => void res.writeHead(204).end())
  const wipe: Passage<null> = {
    route: '/index.php/core/wipe/check',
    methods: ['POST'],
    guards: 'nothing',
    caller: nobody,
    writes: false,
    handle() {
      throw nothingHere()
    },
  }
  /** The address that apps make of a token, and that ownCloud's apps show to people. */
  const link = openPassage('/index.php/s/{token}', ({ path, res }) => {
    const [, token] = /\/s\/([\w-]+)/.exec(path) ?? []
    res.writeHead(303, { location: `${publicUrl()}/share/${token}`, 'content-length': 0 }).end()
  })
  const preview = passage<Caller>({
    route: '/index.php/core/preview',
    methods: ['GET', 'HEAD'],
    guards: 'nothing',
    caller: signIn,
    writes: false,
    handle: (incoming, caller) => sendPreview(services, incoming, caller),
    refuse: refusalOf,
  })
  const index = new Map<string, Passage>(
    [...logins, connectivity, wipe, preview].map(one => [one.route, one]),
  )

  return [
    doorOf(
      openPassage('/status.php', ({ req, res }) => {
        const body = JSON.stringify(status(services.maintenance.current() !== null, brand))
        write(res, req, { status: 200, headers: jsonHeaders, body })
      }),
    ),
    {
      prefix: '/ocs',
      find({ path, req }) {
        const below = path.replace(/^\/ocs\/v[12]\.php(?=\/)/, '')
        if (below === path) throw notOffered()
        if (below === '/cloud/capabilities') return open
        const found = signedIn.get(below.replace(/(?<=\/shares\/)\d+$/, '{id}'))
        if (!found) throw notOffered()
        const one = found.get(req.method === 'HEAD' ? 'GET' : (req.method ?? ''))
        if (!one) throw methodNotAllowed([...found.keys()])
        return one
      },
      refuse: ocsRefusal,
    },
    {
      prefix: '/index.php',
      find({ path }) {
        if (/^\/index\.php\/s\/[\w-]{1,200}(?:\/download)?$/.test(path)) return link
        const found = index.get(path.replace(/\.png$/, ''))
        if (!found) throw nothingHere()
        return found
      },
    },
    {
      prefix: '/remote.php',
      options: true,
      find(incoming) {
        const { path, req } = incoming
        // The path of a SEARCH is above the files: its body names the scope.
        if (req.method === 'SEARCH' && /^\/remote\.php\/(?:dav|webdav)(?:\/|$)/.test(path))
          return passageFor(reports, incoming)
        const isFile = /^\/remote\.php\/(?:webdav|dav\/files\/[^/]+)(?:\/|$)/.test(path)
        const [, found] = isFile
          ? ['', files]
          : (collections.find(([prefix]) => path.startsWith(`${prefix}/`)) ?? [])
        if (!found) throw nothingHere()
        return passageFor(isFile && req.method === 'REPORT' ? reports : found, incoming)
      },
      refuse: refusalOf,
    },
  ]
}

/**
 * The caller as clients show them, with the quota of their drive in bytes.
 * @throws KEY_OUT_OF_BOUNDS, INSUFFICIENT_SCOPE
 */
async function userOf({ services }: DavDeps, caller: Caller): Promise<OcsValue> {
  const { tree, limits } = Drive.own(caller).open('read')
  const { email, name } = caller
  const usage = (await services.drives.usagesOf([tree.bucketId])).get(tree.bucketId)
  const used = usage?.usedBytes ?? 0
  const total = limits.maxTotalStorageBytes
  const free = Math.max(0, total - used)
  const relative = total > 0 ? Math.round((used / total) * 10_000) / 100 : 0
  const shown = name || email
  return {
    id: email,
    enabled: true,
    email,
    'display-name': shown,
    displayname: shown,
    groups: [],
    language: 'en',
    quota: { free, used, total, relative, quota: total },
  }
}
