import { naturalStatus } from '../../src/runtime/errors.ts'
import { entryNumber } from '../../src/values/entry-number.ts'
import { ask } from './ask.ts'
import type { Identity, Outcome, Rule } from './authorization.ts'
import { aimAt, type DavAim, type DavRow, davRows, expectedByDav } from './authorization-dav.ts'
import type { Things } from './authorization-world.ts'
import { bodyOf, PROP } from './nextcloud-client.ts'

// The routes of the apps of Nextcloud and ownCloud, in the authorization table.

/** The folders of the tree of the apps, by the paths of WebDAV. */
const folders = {
  '/dav/files/': '/remote.php/webdav/',
  '/dav/workspaces/': '/remote.php/webdav/Workspaces/',
  '/dav/shared/': '/remote.php/webdav/Shared with me/',
} as const

/** Every WebDAV method in every place of the tree of the apps. */
export const appFileRows: DavRow[] = davRows.map(row => ({
  ...row,
  title: `${row.title.replace(' /dav', ' apps:')}`,
}))

/** Creates two files in a place, and names the first one as the apps do. */
export async function aimForApps(row: DavRow, things: Things): Promise<DavAim> {
  const aim = await aimAt(row, things)
  const [from, to] = Object.entries(folders).find(([from]) => aim.path.startsWith(from)) ?? ['', '']
  return { ...aim, path: aim.path.replace(from, to) }
}

/** The expected outcome of a WebDAV method in the tree of the apps. */
export function expectedInApps(row: DavRow, identity: Identity): Outcome {
  const { via, dead, role, lacks, readOnly, reaches } = identity
  if (dead || row.place === 'files') return expectedByDav(row, identity)
  if (via === 'workspace key') return 'KEY_OUT_OF_BOUNDS'
  if (row.place !== 'workspace' || via !== 'private key') return expectedByDav(row, identity)
  // The folders beside the own files are only found by a key that may read these.
  if (lacks && !reaches) return 'INSUFFICIENT_SCOPE'
  if (!role) return 'FOLDER_NOT_FOUND'
  if (!reaches) return 'KEY_OUT_OF_BOUNDS'
  if (lacks || (readOnly && (row.copies || row.level !== 'read'))) return 'INSUFFICIENT_SCOPE'
  return row.access === 'viewer' || role !== 'viewer' ? 'yes' : 'FORBIDDEN'
}

/** A further route of the apps, with a target of the owner's. */
export interface AppRow extends Rule {
  method: string
  /** The path names the owner, so that others find nothing. */
  namesUser?: true
  /** The request is about the caller's own things, whoever they are. */
  isOwn?: true
  /** The route also serves keys of workspaces. */
  anyKey?: true
  request(things: Things): Promise<AppRequest> | AppRequest
}

interface AppRequest {
  path: string
  headers?: Record<string, string>
  body?: string
}

const DAV = '/remote.php/dav'
const OCS = '/ocs/v2.php'
const SHARES = `${OCS}/apps/files_sharing/api/v1/shares`
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A transfer with one chunk. */
async function transfer({ owner, name, appKeyOf }: Things): Promise<string> {
  const path = `${DAV}/uploads/${owner.email}/${name}`
  await (await appKeyOf(owner)).rest('PUT', `${path}/1`, { body: 'chunk' })
  return path
}

/** A file with a version: the path of its versions. */
async function versionOf({ owner, name, upload }: Things): Promise<{ of: string; id: string }> {
  const { id: fileId } = await upload(`${name} versions`)
  const form = new FormData()
  form.append('on_conflict', 'replace')
  form.append('file', new File(['newer'], `${name} versions`))
  await owner.rest('POST', '/api/files/upload', { form })
  const path = encodeURIComponent(`${name} versions`)
  const { response } = await owner.rest('GET', `/api/files/versions?path=${path}`)
  const of = `${DAV}/versions/${owner.email}/versions/${entryNumber(fileId)}`
  return { of, id: response.versions[0].id }
}

/** A deleted file in the trash of the apps. */
async function trashedIn({ owner, name, trashed }: Things): Promise<string> {
  return `${DAV}/trashbin/${owner.email}/trash/${name}.d${await trashed()}`
}

/** A link of the owner's. */
async function linkOf({ owner, name, upload }: Things): Promise<string> {
  const { path } = await upload(`${name} linked`)
  const made = await ask(
    owner,
    'mutation ($input: CreateLinkInput!) { createLink(input: $input) { share { id } } }',
    { input: { entries: { at: { path } } } },
  )
  return `${SHARES}/${entryNumber(made.createLink.share.id)}`
}

const read = 'private_files:read'
const [write, remove, share] = ['write', 'delete', 'share'].map(level => `private_files:${level}`)
const depth = { depth: '1' }

const routes: Record<string, Omit<AppRow, 'title' | 'access' | 'method'>> = {
  'MKCOL uploads': {
    scope: write ?? '',
    namesUser: true,
    request: ({ owner, name }) => ({ path: `${DAV}/uploads/${owner.email}/${name}` }),
  },
  'PUT uploads': {
    scope: write ?? '',
    namesUser: true,
    request: ({ owner, name }) => ({ path: `${DAV}/uploads/${owner.email}/${name}/1`, body: 'x' }),
  },
  'PROPFIND uploads': {
    scope: write ?? '',
    namesUser: true,
    request: async things => ({ path: await transfer(things), headers: depth }),
  },
  'MOVE uploads': {
    scope: write ?? '',
    namesUser: true,
    request: async things => ({
      path: `${await transfer(things)}/.file`,
      headers: { destination: `${DAV}/files/${things.owner.email}/${things.name} whole` },
    }),
  },
  'DELETE uploads': {
    scope: write ?? '',
    namesUser: true,
    request: async things => ({ path: await transfer(things) }),
  },
  'PROPFIND trashbin': {
    scope: read,
    namesUser: true,
    request: async things => ({ path: await trashedIn(things), headers: depth }),
  },
  'MOVE trashbin': {
    scope: write ?? '',
    namesUser: true,
    request: async things => ({
      path: await trashedIn(things),
      headers: { destination: `${DAV}/trashbin/${things.owner.email}/restore/x` },
    }),
  },
  'DELETE trashbin': {
    scope: remove ?? '',
    namesUser: true,
    request: async things => ({ path: await trashedIn(things) }),
  },
  'PROPFIND versions': {
    scope: read,
    namesUser: true,
    request: async things => ({ path: (await versionOf(things)).of, headers: depth }),
  },
  'GET versions': {
    scope: read,
    namesUser: true,
    request: async things => {
      const { of, id } = await versionOf(things)
      return { path: `${of}/${id}` }
    },
  },
  'MOVE versions': {
    scope: write ?? '',
    namesUser: true,
    request: async things => {
      const { of, id } = await versionOf(things)
      const headers = { destination: `${DAV}/versions/${things.owner.email}/restore/x` }
      return { path: `${of}/${id}`, headers }
    },
  },
  'REPORT files': {
    scope: read,
    namesUser: true,
    request: ({ owner }) => ({
      path: `${DAV}/files/${owner.email}/`,
      body: bodyOf(
        'oc:filter-files',
        `${PROP}<oc:filter-rules><oc:favorite>1</oc:favorite></oc:filter-rules>`,
      ),
    }),
  },
  'SEARCH files': {
    scope: read,
    isOwn: true,
    request: ({ name }) => ({
      path: `${DAV}/`,
      body: bodyOf(
        'd:searchrequest',
        `<d:basicsearch><d:select>${PROP}</d:select><d:where><d:like><d:prop><d:displayname/></d:prop><d:literal>${name}</d:literal></d:like></d:where></d:basicsearch>`,
      ),
    }),
  },
  'GET cloud/user': { scope: read, isOwn: true, request: () => ({ path: `${OCS}/cloud/user` }) },
  'GET shares': { scope: read, isOwn: true, request: () => ({ path: SHARES }) },
  'POST shares': {
    scope: share ?? '',
    request: async ({ upload, name }) => {
      await upload()
      const body = new URLSearchParams({ path: `/${name}`, shareType: '3' }).toString()
      return { path: SHARES, body, headers: FORM }
    },
  },
  'GET shares/{id}': { scope: read, request: async things => ({ path: await linkOf(things) }) },
  'PUT shares/{id}': {
    scope: share ?? '',
    request: async things => ({ path: await linkOf(things), body: 'note=x', headers: FORM }),
  },
  'DELETE shares/{id}': {
    scope: share ?? '',
    request: async things => ({ path: await linkOf(things) }),
  },
  'GET sharees': {
    scope: share ?? '',
    isOwn: true,
    request: () => ({ path: `${OCS}/apps/files_sharing/api/v1/sharees?search=x` }),
  },
  'GET preview': {
    scope: read,
    request: async ({ picturedFile }) => ({
      path: `/index.php/core/preview?fileId=${entryNumber(await picturedFile())}`,
    }),
  },
}

export const appRows: AppRow[] = Object.entries(routes).map(([title, row]) => ({
  ...row,
  title: `${title} (apps)`,
  method: title.replace(/ .*/, ''),
  access: 'owner',
}))

/** The expected status of a further route; 200 stands for every success. */
export function expectedStatus({ scope, namesUser, isOwn }: AppRow, identity: Identity): number {
  const { via, dead, who, lacks, readOnly } = identity
  if (dead || (via !== 'private key' && via !== 'workspace key')) return 401
  if (namesUser && who !== 'owner') return 404
  if (via === 'workspace key') return naturalStatus.KEY_OUT_OF_BOUNDS
  if (lacks || (readOnly && scope !== read)) return naturalStatus.INSUFFICIENT_SCOPE
  return isOwn || who === 'owner' ? 200 : 404
}
