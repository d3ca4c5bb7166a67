import type { Service } from '../client.ts'
import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import {
  CloseFileRequestDocument,
  CreateFileRequestDocument,
  type FileRequestRowFragment,
  FileRequestsDocument,
  UpdateFileRequestDocument,
} from '../generated.ts'
import { linkLines } from '../link-lines.ts'
import { allPages } from '../pages.ts'
import { ownToken } from '../path.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, linkTable, until } from '../table.ts'
import { plain } from '../text.ts'
import { wordOf } from '../words.ts'

export interface RequestOptions {
  label?: string
  message?: string
  expires: string
  password?: boolean
  maxFiles?: number
  maxSize?: number
  maxTotal?: number
  kind?: string[]
  askName?: boolean
  qr?: boolean
}

/** Changed terms. False removes a limit or the password. */
export interface EditOptions
  extends Pick<RequestOptions, 'label' | 'message' | 'password' | 'kind' | 'askName'> {
  expires?: string
  maxFiles?: number | false
  maxSize?: number | false
  maxTotal?: number | false
  anyKind?: boolean
  notifyMe?: boolean
}

const shown = ({ url, path, state, ...request }: FileRequestRowFragment) => ({
  ...request,
  link: url,
  folder: path,
  state: wordOf(state),
})

const askPassword = ({ patience }: Context) =>
  readSecret('Password of the request: ', patience.signal)

export async function request(
  context: Context,
  text: string,
  options: RequestOptions,
): Promise<Answer> {
  const service = await open(context)
  const { place, path } = await findPlace(service, text)
  const {
    label = path.split('/').at(-1) || 'Files',
    message,
    expires: duration,
    kind: kinds,
    askName,
  } = options
  const password = options.password ? await askPassword(context) : undefined
  const { maxFiles, maxSize: maxFileSize, maxTotal: maxBytes } = options
  const terms = {
    label,
    message,
    duration,
    password,
    kinds,
    maxFiles,
    maxFileSize,
    maxBytes,
    asksName: askName,
  }
  const input = { folder: await place.at(path), ...terms }
  const { fileRequest } = await place.client.change(CreateFileRequestDocument, input)
  return { fact: shown(fileRequest), words: await linkLines([fileRequest.url], options.qr) }
}

const all = ({ personal }: Service) =>
  allPages(async after => (await personal.request(FileRequestsDocument, { after })).me.fileRequests)

export async function requests(context: Context): Promise<Answer> {
  const lines = (await all(await open(context))).map(shown)
  const rows = lines.map(r => [
    r.label,
    r.folder ?? 'in the trash',
    r.state,
    `${r.fileCount}${r.maxFiles === null ? '' : ` of ${r.maxFiles}`}`,
    bytes(r.size),
    until(r.expiresAt),
    r.link,
  ])
  const head = ['LABEL', 'FOLDER', 'STATE', 'FILES', 'SIZE', 'UNTIL', 'LINK']
  return { fact: { fileRequests: lines }, words: rows.length > 0 ? linkTable(head, rows) : '' }
}

/** Finds the user's own requests by link or token. */
async function finder(service: Service): Promise<(link: string) => { id: string; token: string }> {
  const known = new Map((await all(service)).map(({ token, id }) => [token, { id, token }]))
  return link => {
    const request = known.get(ownToken(link, service.url))
    if (request) return request
    throw new Failure('NOT_FOUND', 'File request not found. See satchel requests.', {
      link,
    })
  }
}

const bound = (limit: number | false | undefined) => (limit === false ? null : limit)

export async function editRequest(
  context: Context,
  link: string,
  options: EditOptions,
): Promise<Answer> {
  const {
    label,
    message,
    expires: duration,
    askName: asksName,
    notifyMe: notifies,
    maxFiles,
    maxSize,
  } = options
  const kinds = options.anyKind ? [] : options.kind
  const limits = {
    maxFiles: bound(maxFiles),
    maxFileSize: bound(maxSize),
    maxBytes: bound(options.maxTotal),
  }
  const terms = { label, message, duration, kinds, asksName, notifies, ...limits }
  if (options.password === undefined && Object.values(terms).every(value => value === undefined))
    throw new Failure(
      'USAGE',
      'Give at least one option to change. See satchel edit-request --help.',
    )
  const service = await open(context)
  const { id } = (await finder(service))(link)
  const password = options.password
    ? await askPassword(context)
    : options.password === false
      ? null
      : undefined
  const input = { fileRequest: id, ...terms, password }
  const { fileRequest } = await service.personal.change(UpdateFileRequestDocument, input)
  return { fact: shown(fileRequest), words: plain(fileRequest.url) }
}

export async function closeRequests(context: Context, links: string[]): Promise<Answer> {
  const service = await open(context)
  const find = await finder(service)
  const { done, failures } = await withEach(links, async link => {
    const { id, token } = find(link)
    await service.personal.change(CloseFileRequestDocument, { fileRequest: id })
    return token
  })
  return { fact: { closed: done }, words: '', failures }
}
