import { createHash } from 'node:crypto'
import type { Role } from '../src/auth/roles.ts'
import { privateScopes, workspaceScopes } from '../src/auth/scopes.ts'
import { hashSecret } from '../src/tokens.ts'
import type { Identity, Row } from './authorization.ts'
import { anotherIdentity, expel, found, join, privateKey, put, workspaceKey } from './builders.ts'
import type { Inputs } from './contract/call.ts'
import type { Person, TestApp } from './harness.ts'

let people = 0

/** All scopes but one; where that is none of them, another one is missing. */
const without = (scopes: readonly string[], missing: string | null): string[] =>
  scopes.filter(scope => scope !== (missing && scopes.includes(missing) ? missing : scopes[0]))

/** An owner with her things and her workspace, and everybody around them; each is made when it is first asked for. */
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

  /** Who stands in a column of the table, for a row that asks for this scope. */
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
    const suspend = ({ userId }: Person) => db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [userId])
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
      case 'key of an admin who is a viewer now': {
        const admin = await this.#member('admin')
        const { caller } = await workspaceKey(t, admin, workspaceId)
        await join(t, workspaceId, admin, 'viewer')
        return { ...caller, userId: admin.userId }
      }
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
        await owner.rest('DELETE', `/api/api_keys/${where}/delete`, { json: { api_key_id: made.id } })
        return made.caller
      }
      case 'private key of a suspended user':
      case 'workspace key of a suspended owner': {
        const suspended = await this.#member('owner')
        const isPrivate = identity.via === 'private key'
        const { caller } = isPrivate ? await privateKey(t, suspended) : await workspaceKey(t, suspended, workspaceId)
        await suspend(suspended)
        return caller
      }
      case 'wrong key beside the cookie of the owner':
        return t.withKey(`satchel_${'x'.repeat(43)}`, owner)
    }
    throw new Error(`Nobody is ${identity.title}.`)
  }

  async #keyOfOwner({ via }: Identity) {
    const { owner, workspaceId } = await this.#begun()
    return via === 'private key' ? privateKey(this.#t, owner) : workspaceKey(this.#t, owner, workspaceId)
  }

  /** Lets something happen that somebody may wait for. Nothing happens for whoever has no address. */
  async causeNews(field: string, { email }: Person, { workspace_id }: Inputs): Promise<void> {
    const { db, events } = this.#t.app
    const neighbour = await this.#newcomer()
    if (field === 'Subscription.bucketChanged') {
      const [where, of] = typeof workspace_id === 'string' ? ['b.workspace_id', workspace_id] : ['u.email', email]
      const sql = `SELECT b.id FROM bucket b LEFT JOIN user u ON u.id = b.user_id WHERE ${where} = ?`
      for (const { id } of await db.rows<{ id: string }>(sql, [of])) events.publish('bucketChanged', id)
    } else if (email !== '' && field === 'Subscription.shareReceived') {
      await neighbour.upload('news', '')
      await neighbour.rest('POST', '/api/files/share', { json: { email, objects: ['news'] } })
    } else if (email !== '')
      await neighbour.rest('POST', '/api/workspaces/invites/create', {
        json: { workspace_id: await found(neighbour), email, role: 'viewer' },
      })
  }

  /** Inputs with which a row succeeds for whoever may, aimed at things that nobody else needs any more. */
  async inputsOf(row: Row, caller: Person): Promise<Inputs> {
    const { owner, recipient, workspaceId: workspace_id } = await this.#begun()
    const ws = { workspace_id }
    const name = `thing${++this.#things}`
    const scopes = { name, scopes: ['private_files:read'] }
    const upload = async (path: string, bytes = '') => (await owner.upload(path, bytes)).response.file
    const share = async (): Promise<string> => {
      const json = { object: (await upload(name)).path }
      return (await owner.rest('POST', '/api/files/quick_share', { json })).response.sharing_token
    }
    const shareDirectly = async (): Promise<string> => {
      const json = { email: recipient.email, objects: [(await upload(name)).path] }
      return (await owner.rest('POST', '/api/files/share', { json })).response.sharing_info[0].sharing_token
    }
    const folder = async () => {
      await owner.rest('POST', '/api/folders', { json: { path: name } })
      return name
    }
    const putFile = async (): Promise<string> => (await put(owner, workspace_id, `/${name}`, '')).response[0].id
    const mkdir = async () => {
      const json = { folder_name: name }
      await owner.rest('POST', `/api/workspaces/${workspace_id}/files/mkdir`, { json })
      return `/${name}`
    }
    const invite = async (): Promise<string> => {
      await expel(this.#t, workspace_id, recipient)
      const json = { ...ws, email: recipient.email, role: 'viewer' }
      return (await owner.rest('POST', '/api/workspaces/invites/create', { json })).response.id
    }
    const invited = async () => {
      await invite()
      return { token: (await recipient.rest('GET', '/api/workspaces/invites/mine')).response[0].token as string }
    }
    const noted = async () =>
      createHash('md5')
        .update((await upload(name, name)) && name)
        .digest('hex')
    const file = new File([''], name)
    /** An upload in parts of the owner's. It is empty, so that it can be completed at once. */
    const started = async (into?: string): Promise<string> => {
      const base = into ? `/api/workspaces/${into}/files/uploads` : '/api/files/uploads'
      return (await owner.rest('POST', base, { json: { filename: name, size: 0 } })).response.upload_id
    }

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
      case 'Mutation.uploadPart':
        return { upload_id: await started(), part_number: 1, part: file }
      case 'Mutation.uploadWorkspacePart':
        return { ...ws, upload_id: await started(workspace_id), part_number: 1, part: file }
      case 'Mutation.acceptInvite':
      case 'Mutation.rejectInvite':
        return invited()
      case 'Mutation.changeMemberRole':
        return { ...ws, user_id: (await this.#member('viewer')).userId, role: 'editor' }
      case 'Mutation.createDownloadToken':
      case 'Mutation.deleteFile':
        return { file: (await upload(name)).path }
      case 'Mutation.createFolder':
        return { path: name }
      case 'Mutation.createInvite':
        return { ...ws, email: `${name}@example.com`, role: 'viewer' }
      case 'Mutation.createPrivateApiKey':
        return scopes
      case 'Mutation.createPublicShare':
        return { object: (await upload(name)).path }
      case 'Mutation.createWorkspace':
        return { name }
      case 'Mutation.createWorkspaceApiKey':
        return { ...ws, name, scopes: ['workspaces:read'] }
      case 'Mutation.createWorkspaceFolder':
        return { ...ws, folder_name: name }
      case 'Mutation.deleteAccount':
        return { delete_user_data: true }
      case 'Mutation.deleteFiles':
        return { files: [(await upload(name)).path] }
      case 'Mutation.deleteFolder':
        return { path: await folder() }
      case 'Mutation.deleteInvite':
        return { ...ws, invite_id: await invite() }
      case 'Mutation.removeIdentity':
        return { identity_id: await anotherIdentity(this.#t, owner) }
      case 'Mutation.deletePrivateApiKey':
        return { api_key_id: (await privateKey(this.#t, owner)).id }
      case 'Mutation.deleteWorkspaceApiKey':
        return { ...ws, api_key_id: (await workspaceKey(this.#t, owner, workspace_id)).id }
      case 'Mutation.deleteWorkspaceFile':
      case 'Query.workspaceDownload':
        return { ...ws, file_id: await putFile() }
      case 'Mutation.deleteWorkspaceFolder':
        return { ...ws, path: await mkdir() }
      case 'Mutation.endSession': {
        const again = await this.#t.signIn(owner.email)
        const { response } = await again.rest('GET', '/api/user/sessions')
        return { session_id: response.sessions.find(({ current }: { current: boolean }) => current).id }
      }
      case 'Mutation.appointOperator':
      case 'Mutation.restoreAccount':
      case 'Mutation.suspendAccount':
        return { user_id: (await this.#newcomer()).userId }
      case 'Mutation.dismissOperator':
        return { user_id: (await this.#operator()).userId }
      case 'Mutation.setAccountPlan':
        return { user_id: (await this.#newcomer()).userId, plan_id: 'developer' }
      case 'Query.account':
        return { id: (await this.#newcomer()).userId }
      case 'Mutation.setSignInNotices':
        return { enabled: false }
      case 'Mutation.markShareSeen':
        return { sharing_token: await shareDirectly() }
      case 'Mutation.moveFile':
        return { source: (await upload(name)).path, destination: `${name} moved` }
      case 'Mutation.moveFolder':
        return { source: await folder(), destination: `${name} moved` }
      case 'Mutation.moveWorkspaceFile':
        return { ...ws, file_id: await putFile(), destination: `/${name} moved` }
      case 'Mutation.moveWorkspaceFolder':
        return { ...ws, source: await mkdir(), destination: `/${name} moved` }
      case 'Mutation.removeMember': {
        // Whoever leaves must not be the last owner.
        if (row.consumes) await this.#member('owner')
        return { ...ws, user_id: row.consumes ? caller.userId || owner.userId : (await this.#member('viewer')).userId }
      }
      case 'Mutation.renameWorkspace':
        return { ...ws, name }
      case 'Mutation.revokeShare':
        return { token: await share() }
      case 'Mutation.shareFiles':
        return { email: `${name}@example.com`, objects: [(await upload(name)).path] }
      case 'Mutation.uploadFile':
        return { file }
      case 'Mutation.uploadWorkspaceFile':
        return { ...ws, file }
      case 'Mutation.writeFileNote':
        return { checksum: await noted(), content: name }
      case 'Query.file':
        return { path: (await upload(name)).path }
      case 'Query.fileNote':
        return { checksum: await noted() }
      case 'Query.node':
        return { id: (await upload(name)).id }
      case 'Query.workspace':
        return { id: workspace_id }
      case 'Query.privateDownload': {
        await upload(name)
        const made = await owner.rest('POST', `/api/user/private/download_token?file=${name}`)
        return { token: made.response.private_download_token }
      }
      case 'Mutation.resolveShare':
      case 'Query.sharedDownload':
        return { token: row.access === 'public' ? await share() : await shareDirectly() }
      case 'Query.shareInfo':
        return { token: await share() }
      case 'Subscription.bucketChanged':
        return row.names ? ws : {}
      case 'Mutation.deleteWorkspace':
      case 'Query.workspaceApiKeys':
      case 'Query.workspaceFileTree':
      case 'Query.workspaceInvites':
      case 'Query.workspaceMembers':
      case 'Query.workspaceQuota':
        return ws
    }
    // What is left takes nothing.
    return {}
  }
}
