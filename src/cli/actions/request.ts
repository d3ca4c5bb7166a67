import type { Service } from '../client.ts'
import { withEach } from '../each.ts'
import { Failure } from '../failure.ts'
import { findPlace } from '../find-place.ts'
import {
  CloseFileRequestDocument,
  CreateFileRequestDocument,
  type FileRequestRowFragment,
  FileRequestsDocument,
} from '../generated.ts'
import { linkLines } from '../link-lines.ts'
import { allPages } from '../pages.ts'
import { ownToken } from '../path.ts'
import { readSecret } from '../prompt.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { bytes, linkTable, until } from '../table.ts'
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

const shown = ({ url, path, state, ...request }: FileRequestRowFragment) => ({
  ...request,
  link: url,
  folder: path,
  state: wordOf(state),
})

export async function request(context: Context, text: string, options: RequestOptions): Promise<Answer> {
  const service = await open(context)
  const { place, path } = await findPlace(service, text)
  const { label = path.split('/').at(-1) || 'Files', message, expires: duration, kind: kinds, askName } = options
  const password = options.password ? await readSecret('Password of the request: ', context.patience.signal) : undefined
  const { maxFiles, maxSize: maxFileSize, maxTotal: maxBytes } = options
  const terms = { label, message, duration, password, kinds, maxFiles, maxFileSize, maxBytes, asksName: askName }
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

export async function closeRequests(context: Context, links: string[]): Promise<Answer> {
  const service = await open(context)
  const known = new Map((await all(service)).map(({ token, id }) => [token, id]))
  const { done, failures } = await withEach(links, async link => {
    const token = ownToken(link, service.url)
    const id = known.get(token)
    if (id === undefined)
      throw new Failure('NOT_FOUND', 'You have made no such file request. See satchel requests.', { link })
    await service.personal.change(CloseFileRequestDocument, { fileRequest: id })
    return token
  })
  return { fact: { closed: done }, words: '', failures }
}
