import { createHash } from 'node:crypto'
import { v7 as newId } from 'uuid'
import { ask } from './ask.ts'
import { anotherIdentity, driveOf, put } from './builders.ts'
import type { Person, RestAnswer, RestOptions, TestApp } from './harness.ts'
import { picture, pictured } from './pictured.ts'

/** Runs a step of the walk. Later steps use its response. */
export type Step = (route: string, call: () => Promise<RestAnswer>) => Promise<RestAnswer>

/** The people of the walk. Alice owns the data, bob and carol are invited, and dora leaves. */
export interface Walkers {
  alice: Person
  bob: Person
  carol: Person
  dora: Person
}

/** Values that contain secrets, for tests that search for leaks. */
export interface Plants {
  password: string
  fileName: string
}

/**
 * Calls every route of the schema successfully once, as four people who work together.
 * @param step receives each route by its name in the schema, such as `GET /api/d/{token}`
 */
export async function walkEveryRoute(
  t: Pick<TestApp, 'anonymous' | 'app'>,
  { alice, bob, carol, dora }: Walkers,
  { password, fileName }: Plants,
  step: Step,
): Promise<void> {
  const { anonymous } = t
  /** Calls a route with its parameters filled in. */
  const go = (
    who: Person,
    route: string,
    params: Record<string, string> = {},
    options: RestOptions = {},
  ) => {
    const [method = '', template = ''] = route.split(' ')
    const inPath = (name: string) => template.includes(`{${name}}`)
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(params[name] ?? ''),
    )
    const query = new URLSearchParams(Object.entries(params).filter(([name]) => !inPath(name)))
    return step(route, () => who.rest(method, query.size > 0 ? `${path}?${query}` : path, options))
  }
  const form = (fields: Record<string, string>, content: string) => {
    const made = new FormData()
    for (const [name, value] of Object.entries(fields)) made.append(name, value)
    made.append('file', new Blob([content], { type: 'text/plain' }), fileName)
    return { form: made }
  }
  const content = 'the same bytes for everybody'
  const checksum = createHash('md5').update(content).digest('hex')

  /** Creates a file request, receives files, and closes it. */
  const askForFiles = async (
    who: Person,
    base: string,
    folder: string,
    ws: Record<string, string> = {},
  ) => {
    const json = { label: 'Papers', folder, password }
    const { id: request_id, token } = (await go(who, `POST ${base}`, ws, { json })).response
    await go(who, `GET ${base}`, ws)
    await go(
      who,
      `PATCH ${base}/{request_id}`,
      { ...ws, request_id },
      { json: { label: 'Pictures' } },
    )
    const it = { token }
    const at = '/api/request/{token}'
    const { sender } = (await go(anonymous, `POST ${at}/enter`, it, { json: { password } }))
      .response
    const headers = { 'x-sender-token': sender }
    await go(anonymous, `POST ${at}/upload`, it, { ...form({}, content), headers })
    const start = { json: { filename: `${fileName}.sent`, size: content.length }, headers }
    for (const completes of [true, false]) {
      const { upload_id } = (await go(anonymous, `POST ${at}/uploads`, it, start)).response
      const upload = { ...it, upload_id }
      const part = { body: content, headers }
      await go(
        anonymous,
        `PUT ${at}/uploads/{upload_id}/parts/{part_number}`,
        { ...upload, part_number: '1' },
        part,
      )
      await go(anonymous, `GET ${at}/uploads/{upload_id}`, upload, { headers })
      if (completes)
        await go(anonymous, `POST ${at}/uploads/{upload_id}/complete`, upload, {
          json: {},
          headers,
        })
      else await go(anonymous, `DELETE ${at}/uploads/{upload_id}`, upload, { headers })
    }
    await go(anonymous, `GET ${at}`, it, { headers })
    await go(who, `DELETE ${base}/{request_id}`, { ...ws, request_id })
  }

  /** Sends a file in one part, and cancels another upload. */
  const uploadInParts = async (who: Person, base: string, ws: Record<string, string> = {}) => {
    const json = { filename: `${fileName}.parts`, size: content.length }
    const { upload_id } = (await go(who, `POST ${base}`, ws, { json })).response
    const it = { ...ws, upload_id }
    for (const method of ['PUT', 'POST'])
      await go(
        who,
        `${method} ${base}/{upload_id}/parts/{part_number}`,
        { ...it, part_number: '1' },
        { body: content },
      )
    await go(who, `GET ${base}/{upload_id}`, it)
    await go(who, `POST ${base}/{upload_id}/complete`, it, { json: {} })
    const next = await go(who, `POST ${base}`, ws, {
      json: { ...json, filename: `${fileName}.later` },
    })
    const later = { ...ws, upload_id: next.response.upload_id }
    await go(
      who,
      `PUT ${base}/{upload_id}/parts/{part_number}`,
      { ...later, part_number: '1' },
      { body: content },
    )
    const headers = { prefer: 'respond-async' }
    await go(who, `POST ${base}/{upload_id}/complete`, later, { json: {}, headers })
    await go(who, `GET ${base}/{upload_id}/completion`, later)
    const other = await go(who, `POST ${base}`, ws, {
      json: { ...json, filename: 'given up', direct: true },
    })
    await go(who, `DELETE ${base}/{upload_id}`, { ...ws, upload_id: other.response.upload_id })
  }

  /**
   * Reads the version of a file that was replaced once, restores it, and deletes the resulting
   * version.
   */
  const walkVersions = async (
    who: Person,
    base: string,
    { path = '', ...ws }: Record<string, string>,
  ) => {
    const listed = await go(who, `GET ${base}`, { ...ws, path })
    const version_id = listed.response.versions[0].id
    await go(who, `GET ${base}/{version_id}/download`, { ...ws, version_id })
    const restored = await go(who, `POST ${base}/{version_id}/restore`, { ...ws, version_id })
    await go(who, `DELETE ${base}/{version_id}`, {
      ...ws,
      version_id: restored.response.version_id,
    })
  }

  /** Creates a tag, adds it to an entry, and deletes it. */
  const walkTags = async (
    who: Person,
    base: string,
    path: string,
    ws: Record<string, string> = {},
  ) => {
    const made = await go(who, `POST ${base}/tags`, ws, { json: { name: 'Papers' } })
    const tag_id = made.response.tag.id
    await go(
      who,
      `PATCH ${base}/tags/{tag_id}`,
      { ...ws, tag_id },
      { json: { name: 'Pictures', colour: 'red' } },
    )
    await go(who, `GET ${base}/tags`, ws)
    await go(who, `POST ${base}/entries/tags`, ws, { json: { entries: [path], add: [tag_id] } })
    await go(who, `GET ${base}/tags/{tag_id}/entries`, { ...ws, tag_id })
    await go(who, `DELETE ${base}/tags/{tag_id}`, { ...ws, tag_id })
  }

  /** Reads a finished background copy, and cancels it too late. */
  const walkCopies = async (who: Person, base: string, ws: { workspace_id?: string } = {}) => {
    const copy_id = newId()
    await t.app.db.run(
      `INSERT INTO entry_copy (id, user_id, bucket_id, state, plan, result, created_at) VALUES (?, ?, ?, 'done', '{}', '[]', ?)`,
      [copy_id, who.userId, await driveOf(who, ws.workspace_id), Date.now()],
    )
    await go(who, `GET ${base}/{copy_id}`, { ...ws, copy_id })
    await go(who, `DELETE ${base}/{copy_id}`, { ...ws, copy_id })
  }

  // Alice stores files.
  await go(alice, 'POST /api/files/upload', {}, form({ folder: 'a/b/c/d' }, content))
  const file = `a/b/c/d/${fileName}`
  await go(alice, 'GET /api/files/tree', { path: 'a/b/c/d' })
  await go(alice, 'GET /api/files/info', { path: file })
  await go(alice, 'GET /api/files/preview', {
    file_id: await pictured(t, alice.upload('p.png', picture, 'image/png')),
  })
  await go(alice, 'GET /api/folders', { path: 'a/b/c' })
  await go(alice, 'POST /api/folders', {}, { json: { path: 'e/f' } })
  await go(alice, 'POST /api/folders/move', {}, { json: { source: 'e/f', destination: 'a/f' } })
  await go(alice, 'DELETE /api/folders', { path: 'a/f' })
  await go(
    alice,
    'POST /api/files/move',
    {},
    { json: { source: file, destination: `a/${fileName}` } },
  )
  await go(
    alice,
    'POST /api/files/upload',
    {},
    form({ folder: 'a', on_conflict: 'replace' }, content),
  )
  await walkVersions(alice, '/api/files/versions', { path: `a/${fileName}` })
  await go(alice, 'POST /api/files/zip', {}, { json: { entries: ['a'] } })
  await uploadInParts(alice, '/api/files/uploads')
  await askForFiles(alice, '/api/file_requests', 'a')
  await go(alice, 'PUT /api/files/{checksum}/note', { checksum }, { json: { content: password } })
  await go(alice, 'GET /api/files/{checksum}/note', { checksum })
  await go(alice, 'GET /api/user/data')
  await go(alice, 'GET /api/user/bucket')
  await go(alice, 'GET /api/user/stats')
  await go(alice, 'GET /api/events')
  await go(alice, 'GET /api/user/events')
  await go(alice, 'GET /api/user/identities')
  await go(alice, 'GET /api/user/export')

  // Alice shares some files.
  const object = `a/${fileName}`
  const open = await go(alice, 'POST /api/files/quick_share', {}, { json: { object } })
  const token = open.response.sharing_token
  await go(anonymous, 'GET /api/share/info/{token}', { token })
  await go(anonymous, 'GET /api/d/{token}', { token })
  await go(anonymous, 'POST /api/share/resolve/{token}', { token }, { json: {} })
  await go(alice, 'POST /api/entries/quick_share', {}, { json: { objects: [object, 'a'] } })
  const folder = await go(alice, 'POST /api/folders/quick_share', {}, { json: { path: 'a' } })
  await go(anonymous, 'GET /api/share/entries/{token}', { token: folder.response.sharing_token })
  const save = { json: { paths: [fileName], folder: 'saved' } }
  await go(bob, 'POST /api/share/save/{token}', { token: folder.response.sharing_token }, save)
  await go(alice, 'GET /api/search', { query: 'x' })
  await go(alice, 'POST /api/copies', {}, { json: { entries: [object], folder: 'copies' } })
  await walkCopies(alice, '/api/copies')
  const toEdit = { email: bob.email, mayEdit: true, entries: [{ at: { path: 'a' } }] }
  const toEditOf = `mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }`
  const edited = (await ask(alice, toEditOf, { input: toEdit })).createDirectShare.shares[0]
  const shared = '/api/shared/{token}'
  await go(bob, `POST ${shared}/upload`, edited, form({ folder: 'by bob' }, content))
  await go(bob, `POST ${shared}/folders`, edited, { json: { path: 'by bob/too' } })
  const renamed = { source: `by bob/${fileName}`, destination: 'by bob/renamed' }
  await go(bob, `POST ${shared}/move`, edited, { json: renamed })
  await go(bob, `DELETE ${shared}/entries`, { ...edited, path: 'by bob', recursive: 'true' })
  const mailed = { email: bob.email, objects: [object], password, send_email: true }
  const direct = await go(alice, 'POST /api/files/share', {}, { json: mailed })
  const sharing_token = direct.response.sharing_info[0].sharing_token
  await go(bob, 'GET /api/files/received')
  await go(bob, 'GET /api/files/received/unseen_count')
  await go(bob, 'POST /api/files/received/mark_seen', {}, { json: { sharing_token } })
  await go(alice, 'GET /api/files/shared_by_user')
  await go(
    alice,
    'PATCH /api/share/{token}',
    { token },
    { json: { label: 'renamed', duration: 'never' } },
  )
  await go(alice, 'POST /api/share/revoke/{token}', { token })
  const own = await go(alice, 'POST /api/user/private/download_token', { file: object })
  await go(alice, 'GET /api/user/private/download_token', { file: object })
  await go(alice, 'GET /api/d/private/{token}', { token: own.response.private_download_token })

  // Alice uses an API key.
  const key = { name: 'backup', scopes: ['private_files:read'] }
  const made = await go(alice, 'POST /api/api_keys/private/create', {}, { json: key })
  await go(alice, 'GET /api/api_keys/private/list')
  const api_key_id = made.response.api_key.id
  await go(alice, 'DELETE /api/api_keys/private/delete', {}, { json: { api_key_id } })

  // The four people share a workspace.
  const founded = await go(alice, 'POST /api/workspaces/create', {}, { json: { name: 'Garden' } })
  const workspace_id: string = founded.response.workspace.workspace_id
  const ws = { workspace_id }
  const invite = (person: Person) =>
    go(
      alice,
      'POST /api/workspaces/invites/create',
      {},
      { json: { ...ws, email: person.email, role: 'editor' } },
    )
  const tokenOf = async (person: Person) =>
    (await go(person, 'GET /api/workspaces/invites/mine')).response[0].token as string
  for (const person of [bob, carol, dora]) await invite(person)
  await go(bob, 'POST /api/workspaces/invites/accept', {}, { json: { token: await tokenOf(bob) } })
  await go(carol, 'DELETE /api/workspaces/invites/reject', { token: await tokenOf(carol) })
  const pending = await go(alice, 'GET /api/workspaces/invites', ws)
  await go(alice, 'DELETE /api/workspaces/invites/delete', {
    ...ws,
    invite_id: pending.response[0].id,
  })
  await go(bob, 'GET /api/workspaces/list')
  await go(bob, 'GET /api/workspaces/members', ws)
  const user_id = bob.userId
  await go(
    alice,
    'PATCH /api/workspaces/members/role',
    {},
    { json: { ...ws, user_id, role: 'admin' } },
  )
  await go(alice, 'PATCH /api/workspaces/rename', {}, { json: { ...ws, name: 'Orchard' } })
  await go(bob, 'GET /api/workspaces/{workspace_id}/quota', ws)

  // They use the folders of the workspace.
  const dir = '/api/workspaces/{workspace_id}/files'
  await go(bob, `POST ${dir}/mkdir`, ws, { json: { folder_name: 'x' } })
  const uploaded = await go(bob, `POST ${dir}/upload`, ws, form({ folder: '/x' }, content))
  await go(alice, `GET ${dir}/tree`, { ...ws, path: '/x' })
  await go(alice, `GET ${dir}/info`, { ...ws, path: `/x/${fileName}` })
  await go(alice, `GET ${dir}/download`, { ...ws, path: `/x/${fileName}` })
  await uploadInParts(bob, `${dir}/uploads`, ws)
  await askForFiles(bob, '/api/workspaces/{workspace_id}/file_requests', '/x', ws)
  await walkCopies(bob, '/api/workspaces/{workspace_id}/copies', ws)
  await go(bob, `POST ${dir}/upload`, ws, form({ folder: '/x', on_conflict: 'replace' }, content))
  await walkTags(bob, '/api/workspaces/{workspace_id}', '/x', ws)
  await go(bob, 'GET /api/workspaces/{workspace_id}/search', { ...ws, query: 'x' })
  await walkVersions(bob, `${dir}/versions`, { ...ws, path: `/x/${fileName}` })
  await go(bob, `POST ${dir}/zip`, ws, { json: { entries: ['x'] } })
  const file_id = uploaded.response[0].id
  const ours = await pictured(t, put(bob, ws.workspace_id, '/p.png', picture, 'image/png'))
  await go(bob, `GET ${dir}/preview`, { ...ws, file_id: ours })
  await go(bob, `PATCH ${dir}/move`, ws, { json: { file_id, destination: '/' } })
  await go(bob, `PATCH ${dir}/folder/move`, ws, { json: { source: '/x', destination: '/y' } })
  await go(bob, `DELETE ${dir}/folder/delete`, { ...ws, path: '/y' })
  await go(bob, `DELETE ${dir}/delete`, { ...ws, file_id })
  await go(bob, 'GET /api/workspaces/{workspace_id}/events', ws)
  const trash = '/api/workspaces/{workspace_id}/trash'
  const [file_item, folder_item] = (await go(bob, `GET ${trash}`, ws)).response.items
  await go(bob, `POST ${trash}/restore`, ws, { json: { items: [file_item.id] } })
  await go(bob, `DELETE ${trash}/items`, ws, { json: { items: [folder_item.id] } })
  await go(bob, `DELETE ${trash}`, ws)
  const machine = { name: 'press', scopes: ['workspaces:files:read'] }
  const keyOfAll = await go(alice, 'POST /api/api_keys/{workspace_id}/create', ws, {
    json: machine,
  })
  await go(alice, 'GET /api/api_keys/{workspace_id}/list', ws)
  const gone = { api_key_id: keyOfAll.response.api_key.id }
  await go(alice, 'DELETE /api/api_keys/{workspace_id}/delete', ws, { json: gone })
  await go(alice, 'DELETE /api/workspaces/members/remove', { ...ws, user_id })
  await go(alice, 'DELETE /api/workspaces/delete', ws)

  // Carol lists her sessions, and leaves.
  await go(carol, 'PUT /api/user/sign_in_notices', {}, { json: { enabled: true } })
  await go(carol, 'DELETE /api/user/sessions/others')
  const signedIn = await go(carol, 'GET /api/user/sessions')
  await go(carol, 'DELETE /api/user/sessions', { session_id: signedIn.response.sessions[0].id })

  // Alice marks a favourite, and lists her recent files.
  const worked = await go(alice, 'GET /api/recent')
  const favourite_id = worked.response.entries[0].id
  await go(alice, 'PUT /api/favourites/{favourite_id}', { favourite_id })
  await go(alice, 'PATCH /api/favourites/{favourite_id}', { favourite_id }, { json: {} })
  await go(alice, 'GET /api/favourites')
  await go(alice, 'DELETE /api/favourites/{favourite_id}', { favourite_id })

  // Alice tags a file.
  await walkTags(alice, '/api', `a/${fileName}`)

  // Alice restores deleted files from the trash.
  await go(alice, 'DELETE /api/files/delete', { file: `a/${fileName}` })
  const thrown = (await go(alice, 'GET /api/trash')).response.items
  const [last, first] = [thrown[0].id, thrown.at(-1).id]
  await go(alice, 'POST /api/trash/restore', {}, { json: { items: [last] } })
  await go(alice, 'DELETE /api/trash/items', {}, { json: { items: [first] } })
  await go(alice, 'DELETE /api/trash')

  // Alice deletes a file, and dora deletes an identity and her account.
  await go(alice, 'DELETE /api/files/delete', { file: object })
  await go(alice, 'DELETE /api/files/delete/batch', {}, { json: { files: [object] } })
  await go(dora, 'DELETE /api/user/identities', { identity_id: await anotherIdentity(t, dora) })
  await go(dora, 'DELETE /api/user/account/delete', {}, { json: { delete_user_data: true } })
}
