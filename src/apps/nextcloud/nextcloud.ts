import { logSecurityEvent } from '../../access/audit-log.ts'
import type { Caller } from '../../access/caller.ts'
import { Drive } from '../../access/drive.ts'
import { type DavDeps, davPassages, passageFor } from '../../dav/dav.ts'
import { refusalOf } from '../../dav/refusal.ts'
import { nobody } from '../../http/callers.ts'
import { jsonHeaders } from '../../http/envelope.ts'
import type { Incoming } from '../../http/incoming.ts'
import {
  type DoorPlan,
  doorOf,
  nothingHere,
  openPassage,
  type Passage,
  passage,
} from '../../http/threshold.ts'
import { write } from '../../http/write.ts'
import { Forbidden } from '../../runtime/errors.ts'
import { capabilities, status } from './capabilities.ts'
import { filesFace } from './files.ts'
import { loginFlow } from './login-flow.ts'
import { notOffered, type OcsValue, ocs, ocsRefusal } from './ocs.ts'
import { sendPreview } from './previews.ts'
import { reportPassages } from './reports.ts'
import { trashPassages } from './trash.ts'
import { UPLOADS, uploadPassages } from './uploads.ts'
import { versionPassages } from './versions.ts'

/** A route of the Open Collaboration Services, below /ocs/v1.php and /ocs/v2.php. */
interface OcsRoute {
  method: 'GET' | 'DELETE'
  writes: boolean
  handle(incoming: Incoming, caller: Caller): Promise<OcsValue>
}

/**
 * The protocol of Nextcloud's and ownCloud's clients (docs/decisions/nextcloud.md): WebDAV with
 * their additions, sign-in and capabilities. The clients find it at fixed URLs.
 */
export function createNextcloud(deps: DavDeps): DoorPlan[] {
  const { services, publicUrl, signIn } = deps

  const routes: Record<string, OcsRoute> = {
    '/cloud/user': {
      method: 'GET',
      writes: false,
      handle: async (_incoming, caller) => userOf(deps, caller),
    },
    '/core/apppassword': {
      method: 'DELETE',
      writes: false,
      async handle({ log }, caller) {
        await services.apiKeys.removeItself(caller)
        logSecurityEvent({ log, caller }, 'key_deleted', { key_id: caller.credentialId })
        return []
      },
    },
    '/core/getapppassword': {
      method: 'GET',
      writes: false,
      async handle() {
        throw new Forbidden('You are signed in with an API key already.')
      },
    },
  }

  const open = passage<null>({
    route: '/ocs/cloud/capabilities',
    methods: ['GET'],
    guards: 'nothing',
    caller: nobody,
    writes: false,
    handle: incoming => write(incoming.res, incoming.req, ocs(incoming, capabilities(publicUrl()))),
  })
  const signedIn = new Map(
    Object.entries(routes).map(([path, { method, writes, handle }]) => [
      path,
      passage<Caller>({
        route: `/ocs${path}`,
        methods: [method],
        guards: 'nothing',
        caller: signIn,
        writes,
        async handle(incoming, caller) {
          write(incoming.res, incoming.req, ocs(incoming, await handle(incoming, caller)))
        },
      }),
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
  const preview = passage<Caller>({
    route: '/index.php/core/preview',
    methods: ['GET', 'HEAD'],
    guards: 'nothing',
    caller: signIn,
    writes: false,
    handle: (incoming, caller) => sendPreview(services, incoming, caller),
  })
  const index = new Map<string, Passage>(
    [...logins, connectivity, wipe, preview].map(one => [one.route, one]),
  )

  return [
    doorOf(
      openPassage('/status.php', ({ req, res }) => {
        const body = JSON.stringify(status(services.maintenance.current() !== null))
        write(res, req, { status: 200, headers: jsonHeaders, body })
      }),
    ),
    {
      prefix: '/ocs',
      find({ path }) {
        const below = path.replace(/^\/ocs\/v[12]\.php(?=\/)/, '')
        if (below === path) throw notOffered()
        if (below === '/cloud/capabilities') return open
        const found = signedIn.get(below)
        if (!found) throw notOffered()
        return found
      },
      refuse: ocsRefusal,
    },
    {
      prefix: '/index.php',
      find({ path }) {
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
