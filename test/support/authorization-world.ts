import { createHash } from 'node:crypto'
import { v7 as newId, v4 as newToken } from 'uuid'
import type { Role } from '../../src/access/roles.ts'
import { appScopes, privateScopes, workspaceScopes } from '../../src/access/scopes.ts'
import { hashSecret } from '../../src/runtime/tokens.ts'
import { changeRunner, system } from '../../src/services/history/event.ts'
import type { Inputs } from '../contract/call.ts'
import { ask } from './ask.ts'
import type { Identity, Row } from './authorization.ts'
import {
  anotherIdentity,
  driveOf,
  expel,
  found,
  join,
  privateKey,
  put,
  workspaceKey,
} from './builders.ts'
import type { Person, TestApp } from './harness.ts'
import { picture, pictured } from './pictured.ts'

/** A webhook receiver that does not exist: RFC 6761 reserves the domain. */
export const NOWHERE = 'https://receiver.invalid/'

let people = 0
let plans = 0
const newPlanId = () => `plan-${++plans}`

/**
 * All scopes without the missing one. If the missing scope is not among them, another scope is left
 * out.
 */
const without = (scopes: readonly string[], missing: string | null): string[] =>
  scopes.filter(scope => scope !== (missing && scopes.includes(missing) ? missing : scopes[0]))

/**
 * An owner with her entries and her workspace, and all other users. Each is created when it is
 * first needed.
 */
export class World {
  readonly #t: TestApp
  readonly #callers = new Map<string, Promise<Person>>()
  #base: Promise<{ owner: Person; recipient: Person; workspaceId: string }> | undefined
  #things = 0

  constructor(t: TestApp) {
    this.#t = t
  }

  #begun() {
    this.#base ??= this.#begin()
    return this.#base
  }

  async #begin() {
    const [owner, recipient] = await Promise.all([this.#newcomer(), this.#newcomer()])
    return { owner, recipient, workspaceId: await found(owner) }
  }

  /** The caller of a column, for a row that requires this scope. */
  callerOf(identity: Identity, scope: string | null): Promise<Person> {
    const name = identity.lacks ? `${identity.title} ${scope}` : identity.title
    const known = this.#callers.get(name) ?? this.#make(identity, scope)
    this.#callers.set(name, known)
    return known
  }

  #newcomer(): Promise<Person> {
    return this.#t.signIn(`person${++people}`)
  }

  async #operator(): Promise<Person> {
    const operator = await this.#newcomer()
    const { userId } = operator
    const sql = 'INSERT INTO operator (user_id, appointed_by, appointed_at) VALUES (?, ?, ?)'
    await this.#t.app.db.run(sql, [userId, userId, Date.now()])
    return operator
  }

  async #member(role: Role): Promise<Person> {
    const member = await this.#newcomer()
    const { workspaceId } = await this.#begun()
    await join(this.#t, workspaceId, member, role)
    return member
  }

  async #make(identity: Identity, scope: string | null): Promise<Person> {
    const t = this.#t
    const { owner, recipient, workspaceId } = await this.#begun()
    const { db } = t.app
    const suspend = ({ userId }: Person) =>
      db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [userId])
    switch (identity.title) {
      case 'nobody':
        return t.anonymous
      case 'owner':
        return owner
      case 'recipient, invitee':
        return recipient
      case 'somebody else':
        return this.#newcomer()
      case 'operator':
        return this.#operator()
      case 'admin':
      case 'editor':
      case 'viewer':
        return this.#member(identity.title)
      case 'former member': {
        const member = await this.#member('owner')
        await expel(t, workspaceId, member)
        return member
      }
      case 'private key':
        return { ...(await privateKey(t, owner)).caller, email: owner.email }
      case 'private key without the scope':
        return (await privateKey(t, owner, without(privateScopes, scope))).caller
      case 'private key of somebody else': {
        const { email, ...other } = await this.#newcomer()
        return { ...(await privateKey(t, { ...other, email })).caller, email }
      }
      case 'workspace key':
        return (await workspaceKey(t, owner, workspaceId)).caller
      case 'workspace key without the scope':
        return (await workspaceKey(t, owner, workspaceId, without(workspaceScopes, scope))).caller
      case 'key of another workspace':
        return (await workspaceKey(t, owner, await found(owner))).caller
      case 'key of an admin who is a viewer now':
      case 'key of an admin who is an editor now': {
        const admin = await this.#member('admin')
        const { caller } = await workspaceKey(t, admin, workspaceId)
        if (identity.role) await join(t, workspaceId, admin, identity.role)
        return { ...caller, userId: admin.userId }
      }
      case 'read-only workspace key':
        return (await workspaceKey(t, owner, workspaceId, ['workspaces:files:read'])).caller
      case 'read-only private key':
        return (await privateKey(t, owner, ['private_files:read'])).caller
      case 'private key of the recipient':
        return { ...(await privateKey(t, recipient)).caller, userId: recipient.userId }
      case 'read-only private key of the recipient':
        return (await privateKey(t, recipient, ['private_files:read'])).caller
      case 'key of an admin who was removed': {
        const admin = await this.#member('admin')
        const { caller } = await workspaceKey(t, admin, workspaceId)
        await expel(t, workspaceId, admin)
        return { ...caller, userId: admin.userId }
      }
      case 'expired session': {
        const again = await t.signIn(owner.email)
        const hash = hashSecret(again.cookie.replace('session_id=', '')).toString('hex')
        await db.run('UPDATE session SET expires_at = ? WHERE hash = ?', [Date.now() - 1, hash])
        return again
      }
      case 'ended session': {
        const again = await t.signIn(owner.email)
        await again.rest('POST', '/auth/logout')
        return again
      }
      case 'session of a suspended owner': {
        const suspended = await this.#member('owner')
        await suspend(suspended)
        return suspended
      }
      case 'expired private key':
      case 'expired workspace key': {
        const made = await this.#keyOfOwner(identity)
        await db.run('UPDATE api_key SET expires_at = ? WHERE id = ?', [Date.now() - 1, made.id])
        return made.caller
      }
      case 'deleted private key':
      case 'deleted workspace key': {
        const made = await this.#keyOfOwner(identity)
        const where = identity.via === 'private key' ? 'private' : workspaceId
        await owner.rest('DELETE', `/api/api_keys/${where}/delete`, {
          json: { api_key_id: made.id },
        })
        return made.caller
      }
      case 'private key of a suspended user':
      case 'workspace key of a suspended owner': {
        const suspended = await this.#member('owner')
        const isPrivate = identity.via === 'private key'
        const { caller } = isPrivate
          ? await privateKey(t, suspended)
          : await workspaceKey(t, suspended, workspaceId)
        await suspend(suspended)
        return caller
      }
      case 'key of an app':
        return this.#appKey(owner)
      case 'key of an app without the scope':
        return this.#appKey(owner, without(appScopes, scope))
      case 'read-only key of an app':
        return this.#appKey(owner, ['private_files:read', 'workspaces:files:read'])
      case 'key of an app of an editor':
      case 'key of an app of a viewer':
        return this.#appKey(await this.#member(identity.role ?? 'viewer'))
      case 'key of an app of a former member': {
        const member = await this.#member('owner')
        const caller = await this.#appKey(member)
        await expel(t, workspaceId, member)
        return caller
      }
      case 'key of an app of the recipient':
        return this.#appKey(recipient)
      case 'deleted key of an app': {
        const caller = await this.#appKey(owner)
        await caller.rest('DELETE', '/ocs/v2.php/core/apppassword')
        return caller
      }
      case 'wrong key beside the cookie of the owner':
        return t.withKey(`satchel_${'x'.repeat(43)}`, owner)
    }
    throw new Error(`Nobody is ${identity.title}.`)
  }

  /** A key like the login flow of the apps makes it. No route makes one with a list of scopes. */
  async #appKey(of: Person, scopes: readonly string[] = appScopes): Promise<Person> {
    const { id, caller } = await privateKey(this.#t, of)
    const sql = 'UPDATE api_key SET scopes = ? WHERE id = ?'
    await this.#t.app.db.run(sql, [scopes.join(' '), id])
    return { ...caller, userId: of.userId, email: of.email }
  }

  async #keyOfOwner({ via }: Identity) {
    const { owner, workspaceId } = await this.#begun()
    return via === 'private key'
      ? privateKey(this.#t, owner)
      : workspaceKey(this.#t, owner, workspaceId)
  }

  /**
   * Triggers an event that a subscriber may wait for. Does nothing for a person without an address.
   */
  async causeNews(field: string, { email }: Person, { drive }: { drive?: unknown }): Promise<void> {
    const { db, pubSub } = this.#t.app
    const neighbour = await this.#newcomer()
    if (field === 'driveChanged') {
      const sql = 'SELECT b.id FROM bucket b JOIN user u ON u.id = b.user_id WHERE u.email = ?'
      const ids =
        typeof drive === 'string'
          ? [drive]
          : (await db.rows<{ id: string }>(sql, [email])).map(({ id }) => id)
      for (const id of ids) pubSub.publish('driveChanged', id)
    } else if (field.endsWith('Events')) {
      const sql =
        'SELECT b.id AS drive, u.id AS person FROM bucket b JOIN user u ON u.id = b.user_id WHERE u.email = ?'
      const [own] = await db.rows<{ drive: string; person: string }>(sql, [email])
      const log =
        field === 'viewerEvents' ? own?.person : typeof drive === 'string' ? drive : own?.drive
      const [kind, subject] = [
        field === 'viewerEvents' ? 'plan.changed' : 'file.deleted',
        null,
      ] as const
      if (log)
        await changeRunner({ db, pubSub })(system, async ({ record }) =>
          record(log, { kind, subject }),
        )
    } else if (email !== '' && field === 'shareReceived') {
      await neighbour.upload('news', '')
      await neighbour.rest('POST', '/api/files/share', { json: { email, objects: ['news'] } })
    } else if (email !== '')
      await neighbour.rest('POST', '/api/workspaces/invites/create', {
        json: { workspace_id: await found(neighbour), email, role: 'viewer' },
      })
  }

  /** Creates disposable entries of the owner's, each on first use. All have the same name. */
  async things() {
    const { owner, recipient, workspaceId } = await this.#begun()
    const t = this.#t
    const name = `thing${++this.#things}`
    const upload = async (path = name, bytes = ''): Promise<{ id: string; path: string }> =>
      (await owner.upload(path, bytes)).response.file
    const share = async (): Promise<string> => {
      const json = { object: (await upload()).path }
      return (await owner.rest('POST', '/api/files/quick_share', { json })).response.sharing_token
    }
    const folder = async (): Promise<string> => {
      await owner.rest('POST', '/api/folders', { json: { path: name } })
      return name
    }
    const shareFolder = async (): Promise<string> => {
      const json = { path: await folder() }
      return (await owner.rest('POST', '/api/folders/quick_share', { json })).response.sharing_token
    }
    const shareFolderDirectly = async (): Promise<string> => {
      const input = { email: recipient.email, entries: [{ at: { path: await folder() } }] }
      const made = await ask(
        owner,
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { token } } }',
        { input },
      )
      return made.createDirectShare.shares[0].token
    }
    /**
     * A folder with a file of this name in it, shared with the recipient for editing or for viewing
     * only.
     */
    const shareInside = async (
      mayEdit: boolean,
    ): Promise<{ id: string; token: string; fileId: string }> => {
      const { id: fileId } = await upload(`${name} shared/${name}`)
      const input = {
        email: recipient.email,
        mayEdit,
        entries: [{ at: { path: `${name} shared` } }],
      }
      const made = await ask(
        owner,
        'mutation ($input: CreateDirectShareInput!) { createDirectShare(input: $input) { shares { id token } } }',
        { input },
      )
      return { ...made.createDirectShare.shares[0], fileId }
    }
    const shareToEdit = () => shareInside(true)
    /** The user code of a device login that waits for its approval. */
    const userCode = async (): Promise<string> => {
      const terms = {
        clientId: 'program',
        name,
        scopes: ['private_files:read' as const],
        lifetime: 3600,
      }
      return (await t.app.services.loginRequests.begin(terms, '192.0.2.1')).userCode
    }
    const shareDirectly = async (): Promise<string> => {
      const json = { email: recipient.email, objects: [(await upload()).path] }
      return (await owner.rest('POST', '/api/files/share', { json })).response.sharing_info[0]
        .sharing_token
    }
    /** A background copy that has finished. */
    const copy = async (into?: string): Promise<string> => {
      const id = newId()
      await t.app.db.run(
        `INSERT INTO entry_copy (id, user_id, bucket_id, state, plan, result, created_at, ended_at) VALUES (?, ?, ?, 'done', '{}', '[]', ?, ?)`,
        [id, owner.userId, await driveOf(owner, into), Date.now(), Date.now()],
      )
      return id
    }
    /**
     * A tag of the owner's drive or of the workspace. Replaces the tags of earlier rows, because
     * tags are limited.
     */
    const tag = async (into?: string): Promise<string> => {
      const [id, drive] = [newId(), await driveOf(owner, into)]
      await t.app.db.run(
        'DELETE FROM tag WHERE bucket_id = ? AND id NOT IN (SELECT id FROM (SELECT id FROM tag WHERE bucket_id = ? ORDER BY id DESC LIMIT 40) AS latest)',
        [drive, drive],
      )
      await t.app.db.run(
        "INSERT INTO tag (id, bucket_id, name, name_key, colour, created_at) VALUES (?, ?, ?, ?, 'red', ?)",
        [id, drive, `${name} tag`, `${name} tag ${id}`, Date.now()],
      )
      return id
    }
    /**
     * A favourite of the owner's. Replaces the favourites of earlier rows, because favourites are
     * limited.
     */
    const favourite = async (path = name): Promise<{ id: string; entryId: string }> => {
      const [id, { id: entryId }] = [newId(), await upload(path)]
      await t.app.db.run('DELETE FROM favourite WHERE user_id = ? AND created_at < ?', [
        owner.userId,
        Date.now() - 5000,
      ])
      await t.app.db.run(
        'INSERT INTO favourite (id, user_id, entry_id, position, created_at) VALUES (?, ?, ?, 0, ?)',
        [...[id, owner.userId, entryId, Date.now()]],
      )
      return { id, entryId }
    }
    const shareId = async (make: () => Promise<unknown>): Promise<string> => {
      await make()
      const sql = 'SELECT id FROM share WHERE user_id = ? ORDER BY id DESC LIMIT 1'
      const [row] = await t.app.db.rows<{ id: string }>(sql, [owner.userId])
      return row?.id ?? ''
    }
    const inviteTo = async (email: string): Promise<string> => {
      const json = { workspace_id: workspaceId, email, role: 'viewer' }
      return (await owner.rest('POST', '/api/workspaces/invites/create', { json })).response.id
    }
    /** Locks an entry by WebDAV for a user. Returns the id of the lock. */
    const addLock = async (entryId: string, userId: string): Promise<string> => {
      const [id, now] = [newToken(), Date.now()]
      const entry = await t.app.db.Entry.findByPk(entryId, { raw: true, rejectOnEmpty: true })
      // The right by which the recipient may lock.
      const share =
        userId === recipient.userId
          ? await t.app.db.Share.findOne({ where: { entryId: entry.parentId ?? '' }, raw: true })
          : null
      const terms = {
        shareId: share?.id ?? null,
        isShared: true,
        isDeep: false,
        owner: '',
        expiresAt: now + 60_000,
        createdAt: now,
      }
      await t.app.db.DavLock.create({ id, bucketId: entry.bucketId, entryId, userId, ...terms })
      return id
    }
    return {
      userCode,
      name,
      owner,
      workspaceId,
      newcomer: () => this.#newcomer(),
      operator: () => this.#operator(),
      newPlanId,
      /** The id of a plan without accounts. */
      async somePlan(): Promise<string> {
        const id = newPlanId()
        const free = await t.app.db.Plan.findByPk('free', { raw: true, rejectOnEmpty: true })
        await t.app.db.Plan.create({ ...free, id, isDefault: false })
        return id
      },
      member: (role: Role) => this.#member(role),
      upload,
      /** The MD5 of a file. */
      async content(): Promise<string> {
        await upload(name, name)
        return createHash('md5').update(name).digest('hex')
      },
      folder,
      /** Uploads a file into the workspace. Returns its id. */
      putFile: async (called = name): Promise<string> =>
        (await put(owner, workspaceId, `/${called}`, '')).response[0].id,
      async mkdir(): Promise<string> {
        await owner.rest('POST', `/api/workspaces/${workspaceId}/files/mkdir`, {
          json: { folder_name: name },
        })
        return `/${name}`
      },
      favourite,
      tag: () => tag(),
      tagInWorkspace: () => tag(workspaceId),
      /** A deleted file, by its id in the trash. */
      async trashed(): Promise<string> {
        await owner.rest('DELETE', `/api/files/delete?file=${(await upload()).path}`)
        return (await owner.rest('GET', '/api/trash?limit=1')).response.items[0].id
      },
      async trashedInWorkspace(): Promise<string> {
        const at = `/api/workspaces/${workspaceId}`
        await put(owner, workspaceId, `/${name}`, '')
        await owner.rest('DELETE', `${at}/files/delete?path=/${name}`)
        return (await owner.rest('GET', `${at}/trash?limit=1`)).response.items[0].id
      },
      /** A version of a file, by its id. */
      async version(): Promise<string> {
        await upload()
        const form = new FormData()
        form.append('on_conflict', 'replace')
        form.append('file', new File(['newer'], name))
        await owner.rest('POST', '/api/files/upload', { form })
        return (await owner.rest('GET', `/api/files/versions?path=${name}`)).response.versions[0].id
      },
      async versionInWorkspace(): Promise<string> {
        const at = `/api/workspaces/${workspaceId}/files`
        const form = new FormData()
        form.append('on_conflict', 'replace')
        form.append('file', new File(['newer'], name))
        await put(owner, workspaceId, `/${name}`, '')
        await owner.rest('POST', `${at}/upload`, { form })
        return (await owner.rest('GET', `${at}/versions?path=/${name}`)).response.versions[0].id
      },
      /** A multipart upload. It is empty, so that it can be completed immediately. */
      async started(into?: string): Promise<string> {
        const base = into ? `/api/workspaces/${into}/files/uploads` : '/api/files/uploads'
        return (await owner.rest('POST', base, { json: { filename: name, size: 0 } })).response
          .upload_id
      },
      /** A multipart upload that was completed in the background. */
      async completed(into?: string): Promise<string> {
        const id = await this.started(into)
        const base = into ? `/api/workspaces/${into}/files/uploads` : '/api/files/uploads'
        await owner.rest('POST', `${base}/${id}/complete`, {
          json: {},
          headers: { prefer: 'respond-async' },
        })
        return id
      },
      /** A file request for the root. */
      async fileRequest(into?: string): Promise<{ id: string; token: string }> {
        const base = into ? `/api/workspaces/${into}` : '/api'
        return (await owner.rest('POST', `${base}/file_requests`, { json: { label: name } }))
          .response
      },
      /** An empty multipart upload to a file request, by an anonymous sender. */
      async requested(): Promise<{ token: string; upload_id: string; sender: string }> {
        const { token } = await this.fileRequest()
        const json = { filename: name, size: 0 }
        const { response } = await t.anonymous.rest('POST', `/api/request/${token}/uploads`, {
          json,
        })
        return { token, upload_id: response.upload_id, sender: response.sender }
      },
      /** The key of an app of a person. */
      appKeyOf: (person: Person) => this.#appKey(person),
      /** A picture with its preview, by its id. */
      picturedFile: () => pictured(t, owner.upload(`${name}.png`, picture, 'image/png')),
      /** A link, by its token. */
      share,
      shareFolder,
      copy,
      shareFolderDirectly,
      shareToEdit,
      shareToSee: () => shareInside(false),
      /** The slug of a workspace in WebDAV paths. */
      async slugOf(id: string): Promise<string> {
        return (await t.app.db.Workspace.findByPk(id, { raw: true }))?.slug ?? ''
      },
      /** Creates a WebDAV lock on a file for a user. Returns its token. */
      async locked(entryId: string, userId: string): Promise<string> {
        await t.app.db.DavLock.destroy({ where: { userId } })
        return `urn:uuid:${await addLock(entryId, userId)}`
      },
      /** The owner's lock on a new file of hers. Returns its id. */
      lock: async (): Promise<string> => addLock((await upload()).id, owner.userId),
      lockInWorkspace: async (): Promise<string> =>
        addLock((await put(owner, workspaceId, `/${name}`, '')).response[0].id, owner.userId),
      /** A share with the recipient, by its token. */
      shareDirectly,
      linkId: () => shareId(share),
      directShareId: () => shareId(shareDirectly),
      inviteSomebody: () => inviteTo(`${name}@example.com`),
      /** An invite for the recipient. */
      async invited(): Promise<{ id: string; token: string }> {
        await expel(t, workspaceId, recipient)
        const id = await inviteTo(recipient.email)
        return {
          id,
          token: (await recipient.rest('GET', '/api/workspaces/invites/mine')).response[0].token,
        }
      },
      /** A webhook of the owner or of the workspace that receives no events by itself. */
      async webhook(of: 'person' | 'workspace'): Promise<{ webhook: string; event: string }> {
        const isOwn = of === 'person'
        const logId = isOwn ? owner.userId : await driveOf(owner, workspaceId)
        const id = newId()
        // Only ten webhooks are allowed.
        await t.app.db.Webhook.destroy({
          where: isOwn ? { userId: owner.userId, workspaceId: null } : { workspaceId },
        })
        const place = { userId: owner.userId, workspaceId: isOwn ? null : workspaceId }
        const state = {
          kinds: '',
          state: 'paused',
          seq: 0,
          attempts: 0,
          failingSince: null,
        } as const
        const times = {
          dueAt: 0,
          leaseUntil: 0,
          secretNumber: 0,
          oldSecretEndsAt: null,
          createdAt: 0,
        }
        await t.app.db.Webhook.create({ id, logId, ...place, url: NOWHERE, ...state, ...times })
        return { webhook: id, event: `event:${logId}:1` }
      },
      ownKey: async (): Promise<string> => (await privateKey(t, owner)).id,
      keyOfWorkspace: async (): Promise<string> => (await workspaceKey(t, owner, workspaceId)).id,
      async anotherSession(): Promise<string> {
        const { response } = await (await t.signIn(owner.email)).rest('GET', '/api/user/sessions')
        return response.sessions.find(({ current }: { current: boolean }) => current).id
      },
      identity: () => anotherIdentity(t, owner),
    }
  }

  /** Inputs with which a row of the contract succeeds for authorized callers. */
  async inputsOf(row: Row, caller: Person): Promise<Inputs> {
    const things = await this.things()
    const {
      name,
      owner,
      workspaceId: workspace_id,
      upload,
      share,
      shareFolder,
      shareFolderDirectly,
      shareDirectly,
      folder,
      putFile,
      mkdir,
      started,
    } = things
    const ws = { workspace_id }
    const file = new File([''], name)

    switch (row.field) {
      case 'Mutation.startUpload':
        return { filename: name, size: 0 }
      case 'Mutation.startWorkspaceUpload':
        return { ...ws, filename: name, size: 0 }
      case 'Mutation.abortUpload':
      case 'Mutation.completeUpload':
      case 'Query.upload':
        return { upload_id: await started() }
      case 'Mutation.abortWorkspaceUpload':
      case 'Mutation.completeWorkspaceUpload':
      case 'Query.workspaceUpload':
        return { ...ws, upload_id: await started(workspace_id) }
      case 'Query.uploadCompletion':
        return { upload_id: await things.completed() }
      case 'Query.workspaceUploadCompletion':
        return { ...ws, upload_id: await things.completed(workspace_id) }
      case 'Mutation.uploadPart':
        return { upload_id: await started(), part_number: 1, part: file }
      case 'Mutation.uploadWorkspacePart':
        return { ...ws, upload_id: await started(workspace_id), part_number: 1, part: file }
      case 'Mutation.createFileRequest':
        return { label: name }
      case 'Mutation.createWorkspaceFileRequest':
        return { ...ws, label: name }
      case 'Mutation.updateFileRequest':
      case 'Mutation.closeFileRequest':
        return { request_id: (await things.fileRequest()).id }
      case 'Mutation.updateWorkspaceFileRequest':
      case 'Mutation.closeWorkspaceFileRequest':
        return { ...ws, request_id: (await things.fileRequest(workspace_id)).id }
      case 'Query.fileRequests':
        return {}
      case 'Query.workspaceFileRequests':
        return ws
      case 'Query.requestInfo':
      case 'Mutation.enterRequest':
        return { token: (await things.fileRequest()).token }
      case 'Mutation.sendRequestedFile':
        return { token: (await things.fileRequest()).token, file }
      case 'Mutation.startRequestedUpload':
        return { token: (await things.fileRequest()).token, filename: name, size: 0 }
      case 'Query.requestedUpload':
      case 'Mutation.completeRequestedUpload':
      case 'Mutation.abortRequestedUpload':
        return things.requested()
      case 'Mutation.sendRequestedPart':
        return { ...(await things.requested()), part_number: 1, part: file }
      case 'Mutation.acceptInvite':
      case 'Mutation.rejectInvite':
        return { token: (await things.invited()).token }
      case 'Mutation.changeMemberRole':
        return { ...ws, user_id: (await this.#member('viewer')).userId, role: 'editor' }
      case 'Mutation.createDownloadToken':
      case 'Mutation.deleteFile':
        return { file: (await upload()).path }
      case 'Mutation.createFolder':
        return { path: name }
      case 'Mutation.createInvite':
        return { ...ws, email: `${name}@example.com`, role: 'viewer' }
      case 'Mutation.createPrivateApiKey':
        return { name, scopes: ['private_files:read'] }
      case 'Mutation.createPublicShare':
        return { object: (await upload()).path }
      case 'Mutation.createWorkspace':
        return { name }
      case 'Mutation.createWorkspaceApiKey':
        return { ...ws, name, scopes: ['workspaces:read'] }
      case 'Mutation.createWorkspaceFolder':
        return { ...ws, folder_name: name }
      case 'Mutation.deleteAccount':
        return { delete_user_data: true }
      case 'Mutation.deleteFiles':
        return { files: [(await upload()).path] }
      case 'Mutation.deleteFolder':
        return { path: await folder() }
      case 'Mutation.deleteInvite':
        return { ...ws, invite_id: await things.inviteSomebody() }
      case 'Mutation.removeIdentity':
        return { identity_id: await things.identity() }
      case 'Mutation.deletePrivateApiKey':
        return { api_key_id: await things.ownKey() }
      case 'Mutation.deleteWorkspaceApiKey':
        return { ...ws, api_key_id: await things.keyOfWorkspace() }
      case 'Mutation.deleteWorkspaceFile':
      case 'Query.workspaceDownload':
        return { ...ws, file_id: await putFile() }
      case 'Mutation.deleteWorkspaceFolder':
        return { ...ws, path: await mkdir() }
      case 'Query.favourites':
      case 'Query.recent':
      case 'Query.tags':
        return {}
      case 'Mutation.addFavourite':
        return { favourite_id: (await upload()).id }
      case 'Mutation.moveFavourite':
        return {
          favourite_id: (await things.favourite()).entryId,
          before: (await things.favourite(`${name} next`)).entryId,
        }
      case 'Mutation.removeFavourite':
        return { favourite_id: (await things.favourite()).entryId }
      case 'Query.workspaceTags':
        return ws
      case 'Query.search':
        return { query: name }
      case 'Query.workspaceSearch':
        return { ...ws, query: name }
      case 'Mutation.createTag':
        return { name }
      case 'Mutation.createWorkspaceTag':
        return { ...ws, name }
      case 'Mutation.updateTag':
        return { tag_id: await things.tag(), colour: 'blue' }
      case 'Mutation.updateWorkspaceTag':
        return { ...ws, tag_id: await things.tagInWorkspace(), colour: 'blue' }
      case 'Mutation.deleteTag':
      case 'Query.taggedEntries':
        return { tag_id: await things.tag() }
      case 'Mutation.deleteWorkspaceTag':
      case 'Query.workspaceTaggedEntries':
        return { ...ws, tag_id: await things.tagInWorkspace() }
      case 'Mutation.tagEntries':
        return {
          entries: [(await upload()).path],
          add: [await things.tag()],
          remove: [await things.tag()],
        }
      case 'Mutation.tagWorkspaceEntries':
        return {
          ...ws,
          entries: [await mkdir()],
          add: [await things.tagInWorkspace()],
          remove: [await things.tagInWorkspace()],
        }
      case 'Query.trash':
      case 'Mutation.emptyTrash':
        return {}
      case 'Mutation.restoreTrash':
      case 'Mutation.deleteFromTrash':
        return { items: [await things.trashed()] }
      case 'Query.workspaceTrash':
      case 'Mutation.emptyWorkspaceTrash':
        return ws
      case 'Mutation.restoreWorkspaceTrash':
      case 'Mutation.deleteFromWorkspaceTrash':
        return { ...ws, items: [await things.trashedInWorkspace()] }
      case 'Query.filePreview':
        return { file_id: await pictured(this.#t, owner.upload(name, picture, 'image/png')) }
      case 'Query.workspaceFilePreview':
        return {
          ...ws,
          file_id: await pictured(
            this.#t,
            put(owner, ws.workspace_id, `/${name}`, picture, 'image/png'),
          ),
        }
      case 'Query.fileInfo':
      case 'Query.versions':
        return { file_id: (await upload()).id }
      case 'Query.versionDownload':
      case 'Mutation.restoreVersion':
      case 'Mutation.deleteVersion':
        return { version_id: await things.version() }
      case 'Query.workspaceFileInfo':
      case 'Query.workspaceVersions':
        return { ...ws, file_id: await putFile() }
      case 'Query.workspaceVersionDownload':
      case 'Mutation.restoreWorkspaceVersion':
      case 'Mutation.deleteWorkspaceVersion':
        return { ...ws, version_id: await things.versionInWorkspace() }
      case 'Mutation.endSession':
        return { session_id: await things.anotherSession() }
      case 'Mutation.setSignInNotices':
        return { enabled: false }
      case 'Mutation.markShareSeen':
        return { sharing_token: await shareDirectly() }
      case 'Mutation.moveFile':
        return { source: (await upload()).path, destination: `${name} moved` }
      case 'Mutation.moveFolder':
        return { source: await folder(), destination: `${name} moved` }
      case 'Mutation.moveWorkspaceFile':
        return { ...ws, file_id: await putFile(), destination: `/${name} moved` }
      case 'Mutation.moveWorkspaceFolder':
        return { ...ws, source: await mkdir(), destination: `/${name} moved` }
      case 'Mutation.removeMember': {
        // The member who leaves must not be the last owner.
        if (row.consumes) await this.#member('owner')
        return {
          ...ws,
          user_id: row.consumes
            ? caller.userId || owner.userId
            : (await this.#member('viewer')).userId,
        }
      }
      case 'Mutation.renameWorkspace':
        return { ...ws, name }
      case 'Mutation.revokeShare':
      case 'Mutation.updateShare':
        return { token: await share() }
      case 'Mutation.shareFiles':
        return { email: `${name}@example.com`, objects: [(await upload()).path] }
      case 'Mutation.uploadFile':
        return { file }
      case 'Mutation.uploadWorkspaceFile':
        return { ...ws, file }
      case 'Mutation.writeFileNote':
        return { checksum: await things.content(), content: name }
      case 'Query.fileNote':
        return { checksum: await things.content() }
      case 'Query.privateDownload': {
        await upload()
        const made = await owner.rest('POST', `/api/user/private/download_token?file=${name}`)
        return { token: made.response.private_download_token }
      }
      case 'Mutation.resolveShare':
      case 'Query.sharedDownload':
        return { token: row.access === 'public' ? await share() : await shareDirectly() }
      case 'Mutation.createEntriesShare':
        return { objects: [(await upload()).path, await folder()] }
      case 'Mutation.createFolderShare':
        return { path: await folder() }
      case 'Mutation.zipFiles':
        return { entries: [(await upload()).path] }
      case 'Mutation.zipWorkspaceFiles': {
        await putFile()
        return { ...ws, entries: [name] }
      }
      case 'Query.sharedEntries':
        return {
          token: row.access === 'public' ? await shareFolder() : await shareFolderDirectly(),
        }
      case 'Mutation.saveSharedEntries':
        return {
          token: row.access === 'signed-in' ? await share() : await shareDirectly(),
          folder: `${name}-saved`,
        }
      case 'Mutation.uploadSharedFile':
        return { token: (await things.shareToEdit()).token, file: new File([''], `${name} new`) }
      case 'Mutation.createSharedFolder':
        return { token: (await things.shareToEdit()).token, path: `${name} new` }
      case 'Mutation.moveSharedEntry':
        return {
          token: (await things.shareToEdit()).token,
          source: name,
          destination: `${name} moved`,
        }
      case 'Mutation.deleteSharedEntry':
        return { token: (await things.shareToEdit()).token, path: name }
      case 'Mutation.cancelCopy':
      case 'Query.copy':
        return { copy_id: await things.copy() }
      case 'Mutation.cancelWorkspaceCopy':
      case 'Query.workspaceCopy':
        return { ...ws, copy_id: await things.copy(String(workspace_id)) }
      case 'Mutation.copyEntries':
        if (row.access !== 'editor')
          return { entries: [(await upload()).path], folder: `${name}-copies` }
        await putFile()
        return {
          from_workspace_id: ws.workspace_id,
          to_workspace_id: ws.workspace_id,
          entries: [`/${name}`],
          folder: `/${name}-copies`,
        }
      case 'Query.shareInfo':
        return { token: await share() }
      case 'Mutation.deleteWorkspace':
      case 'Query.workspaceApiKeys':
      case 'Query.workspaceEvents':
      case 'Query.workspaceFileTree':
      case 'Query.workspaceInvites':
      case 'Query.workspaceMembers':
      case 'Query.workspaceQuota':
        return ws
    }
    // The remaining rows take no inputs.
    return {}
  }
}

/** The entries that a world creates. */
export type Things = Awaited<ReturnType<World['things']>>
