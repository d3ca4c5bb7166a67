/**
 * Fills a running service with people, folders, photos, shares and a workspace, for trying clients
 * and taking pictures: `npm run seed -- [--url URL] [--data DIR] [--photos COUNT]`. The content is
 * made up, and the same each time. Uses only public interfaces. The people sign in by the embedded
 * sign-in for localhost, whose word is read from the data folder of the service.
 */
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Browser } from '../unit/sign-in-browser.ts'
import {
  clubFiles,
  documents,
  draft,
  firstBudget,
  photos,
  type SeedFile,
  sent,
} from './seed-content.ts'

const HELP = `Fills a running service with made-up content.

  npm run seed -- [--url URL] [--data DIR] [--photos COUNT]

  --url     the address of the service (http://localhost:8080)
  --data    its data folder, which contains the sign-in word (data)
  --photos  how many photos to upload (45)

The people are alice, bob and carol, each @example.com. The service must use the embedded sign-in
for localhost, which npm start uses without other settings.`

/** A reason to stop that the user can act on. */
class Unusable extends Error {}

/** The JSON of a response, without its envelope. Each caller names the fields that it reads. */
// biome-ignore lint/suspicious/noExplicitAny: the contract of the REST interface is documented
type Answer = any

interface Client {
  json(method: string, path: string, body?: object): Promise<Answer>
  form(path: string, fields: Record<string, string>, file: SeedFile): Promise<Answer>
}

function clientAt(
  url: string,
  send: (url: string, init: RequestInit) => Promise<Response>,
): Client {
  async function answer(path: string, init: RequestInit) {
    const response = await send(`${url}${path}`, init)
    const { msg, response: content } = (await response.json()) as { msg: string; response: Answer }
    if (!response.ok) throw new Unusable(`${init.method} ${path}: ${response.status}. ${msg}`)
    return content
  }
  return {
    json: (method, path, body) =>
      answer(path, {
        method,
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      }),
    form(path, fields, { bytes, path: name, type, modifiedAt }) {
      const body = new FormData()
      for (const [field, value] of Object.entries(fields)) body.append(field, value)
      body.append('modified_at', new Date(modifiedAt).toISOString())
      body.append('file', new File([Uint8Array.from(bytes)], basename(name), { type }))
      return answer(path, { method: 'POST', body })
    },
  }
}

const folderOf = (path: string) => (dirname(path) === '.' ? '' : dirname(path))

function parse() {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'http://localhost:8080' },
      data: { type: 'string', default: 'data' },
      photos: { type: 'string', default: '45' },
    },
  })
  if (!/^\d{1,5}$/.test(values.photos))
    throw new Unusable('--photos must be a whole number up to 99999.')
  return { ...values, url: values.url.replace(/\/+$/, ''), photos: Number(values.photos) }
}

/** Signs a person in by the form of the embedded sign-in. */
async function signIn(url: string, data: string, name: string): Promise<Client> {
  const file = join(data, 'sign-in-word')
  const word = await readFile(file, 'utf8').catch(() => {
    throw new Unusable(`${file} is missing. Name the data folder of the service with --data.`)
  })
  const browser = new Browser()
  const follow = async (response: Response) => {
    let at = response
    for (let i = 0; i < 10 && at.headers.has('location'); i++)
      at = await browser.get(at.headers.get('location') ?? '')
    return at
  }
  const form = await follow(
    await browser.get(`${url}/auth/oauth`).catch(() => {
      throw new Unusable(`No service answers at ${url}. Start one with npm start.`)
    }),
  )
  if (!form.ok) throw new Unusable(`${url} does not offer the embedded sign-in for localhost.`)
  await follow(
    await browser.post({ word: word.trim(), email: `${name}@example.com`, verified: 'yes' }),
  )
  const client = clientAt(url, (address, init) => browser.get(address, init))
  const { authenticated } = await client.json('GET', '/auth/is_valid')
  if (!authenticated)
    throw new Unusable(`${name} could not sign in. The service needs its embedded sign-in.`)
  return client
}

const say = (line: string) => console.log(line)

async function fillDrive(alice: Client, count: number): Promise<void> {
  const upload = (file: SeedFile, more: Record<string, string> = {}) =>
    alice.form('/api/files/upload', { folder: folderOf(file.path), ...more }, file)
  await upload(firstBudget())
  for (const file of documents()) await upload(file, { on_conflict: 'replace' })
  await upload(draft())
  await alice.json('DELETE', `/api/files/delete?file=${encodeURIComponent(draft().path)}`)
  let done = 0
  for await (const file of photos(count)) {
    await upload(file)
    if (++done % 15 === 0) say(`${done} of ${count} photos`)
  }
  const { tag } = await alice.json('POST', '/api/tags', { name: 'tax', colour: 'orange' })
  const entries = ['Documents/Invoices', 'Documents/Budget 2026.csv']
  const { entries: tagged } = await alice.json('POST', '/api/entries/tags', {
    entries,
    add: [tag.id],
  })
  for (const { id } of tagged) await alice.json('PUT', `/api/favourites/${id}`)
  say('A drive with documents, versions, a trash, tags and favourites.')
}

/** A sender of a file request, who needs no account. */
const senderAt = (url: string, token: string) =>
  clientAt(url, (address, init) =>
    fetch(address, { ...init, headers: { ...init.headers, 'x-sender-token': token } }),
  )

/** Returns the links that visitors can open. */
async function share(url: string, alice: Client, bob: Client): Promise<string[]> {
  const album = await alice.json('POST', '/api/folders/quick_share', {
    path: 'Photos',
    duration: '30d',
    title: 'Our year in pictures',
    message: 'Take what you like.',
  })
  const secret = await alice.json('POST', '/api/files/quick_share', {
    object: 'Documents/Budget 2026.csv',
    password: 'sesame',
    max_downloads: 5,
  })
  await alice.json('POST', '/api/files/share', {
    email: 'bob@example.com',
    objects: ['Documents/Minutes/2026-09-14 Board.md'],
    may_edit: true,
    send_email: false,
  })
  await alice.json('POST', '/api/folders', { path: 'Collected' })
  const request = await alice.json('POST', '/api/file_requests', {
    label: 'Photos of the summer party',
    message: 'Please send your five best.',
    folder: 'Collected',
    asks_name: true,
  })
  for (const [name, file] of await sent()) {
    const at = `/api/request/${request.token}`
    const { sender } = await clientAt(url, fetch).json('POST', `${at}/enter`, { name })
    await senderAt(url, sender).form(`${at}/upload`, {}, file)
  }
  await bob.form('/api/files/upload', {}, { ...draft(), path: 'Notes of Bob.txt' })
  await bob.json('POST', '/api/files/share', {
    email: 'alice@example.com',
    objects: ['Notes of Bob.txt'],
    send_email: false,
  })
  say('Two links, two direct shares, and a file request with three senders.')
  return [album.sharing_link, `${secret.sharing_link} (password: sesame)`, request.link]
}

async function openWorkspace(alice: Client, others: Record<string, [Client, string]>) {
  const { workspace } = await alice.json('POST', '/api/workspaces/create', { name: 'Garden club' })
  for (const file of clubFiles())
    await alice.form(
      `/api/workspaces/${workspace.workspace_id}/files/upload`,
      { folder: folderOf(file.path) },
      file,
    )
  for (const [email, [person, role]] of Object.entries(others)) {
    const body = { workspace_id: workspace.workspace_id, email, role }
    await alice.json('POST', '/api/workspaces/invites/create', body)
    const [invite] = await person.json('GET', '/api/workspaces/invites/mine')
    await person.json('POST', '/api/workspaces/invites/accept', { token: invite.token })
  }
  say('A workspace with three members.')
}

async function run(): Promise<void> {
  const { url, data, photos } = parse()
  const alice = await signIn(url, data, 'alice')
  const bob = await signIn(url, data, 'bob')
  const carol = await signIn(url, data, 'carol')
  const { folders } = await alice.json('GET', '/api/folders')
  if (folders.length > 0)
    throw new Unusable('alice@example.com has folders already. Use a service with new data.')
  await fillDrive(alice, photos)
  await openWorkspace(alice, {
    'bob@example.com': [bob, 'editor'],
    'carol@example.com': [carol, 'viewer'],
  })
  const links = await share(url, alice, bob)
  say(`Sign in at ${url} as alice@example.com, bob@example.com or carol@example.com.`)
  for (const link of links) say(link)
}

try {
  if (process.argv.includes('--help') || process.argv.includes('-h')) say(HELP)
  else await run()
} catch (error) {
  // An unknown option is a TypeError with a code.
  if (!(error instanceof Unusable) && !(error instanceof TypeError && 'code' in error)) throw error
  console.error(error.message)
  process.exitCode = 1
}
