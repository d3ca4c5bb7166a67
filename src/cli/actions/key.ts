import type { Client } from '../client.ts'
import { Failure } from '../failure.ts'
import { isId, workspaceId } from '../find-place.ts'
import {
  CreateKeyDocument,
  DeleteKeyDocument,
  type KeyRowFragment,
  KeysDocument,
  WorkspaceKeysDocument,
} from '../generated.ts'
import { allPages } from '../pages.ts'
import type { Answer, Context } from '../run.ts'
import { open } from '../service.ts'
import { table, when } from '../table.ts'
import { plain } from '../text.ts'
import { privateWords, scopeOf, wireScope, wordOf, workspaceWords } from '../words.ts'

export interface NewKeyOptions {
  scope: string[]
  for?: string
  description?: string
  workspace?: string
}

/** Keys can only be managed with a session. */
async function enter(
  context: Context,
  workspace: string | undefined,
): Promise<{ session: Client; workspaceId: string | undefined }> {
  const service = await open(context)
  return {
    session: service.session,
    workspaceId: workspace === undefined ? undefined : await workspaceId(service, workspace),
  }
}

function keysOf(session: Client, workspace: string | undefined): Promise<KeyRowFragment[]> {
  return allPages(async after =>
    workspace === undefined
      ? (await session.request(KeysDocument, { after })).me.apiKeys
      : (await session.request(WorkspaceKeysDocument, { workspace, after })).workspace.apiKeys,
  )
}

export async function list(context: Context, workspace: string | undefined): Promise<Answer> {
  const { session, workspaceId: id } = await enter(context, workspace)
  const keys = (await keysOf(session, id)).map(({ hint, status, scopes, ...key }) => ({
    ...key,
    keyHint: hint,
    status: wordOf(status),
    scopes: scopes.map(wireScope),
  }))
  const rows = keys.map(k => [
    k.name,
    `...${k.keyHint}`,
    k.status,
    k.scopes.map(scope => scope.replace(/^(private_files|workspaces):/, '')).join(' '),
    k.lastUsedAt === null ? 'never used' : `used ${when(k.lastUsedAt)}`,
    k.expiresAt === null ? '' : `until ${when(k.expiresAt)}`,
    k.id,
  ])
  return {
    fact: { keys },
    words: rows.length > 0 ? table(['NAME', 'KEY', '', 'SCOPES', '', '', 'ID'], rows) : '',
  }
}

export async function create(
  context: Context,
  name: string,
  options: NewKeyOptions,
): Promise<Answer> {
  const { session, workspaceId: id } = await enter(context, options.workspace)
  const words: Record<string, string> = id === undefined ? privateWords : workspaceWords
  const { apiKey, secret } = await session.change(CreateKeyDocument, {
    workspace: id ?? null,
    name,
    scopes: options.scope.map(scope => scopeOf(scope, words)),
    description: options.description ?? null,
    expiresIn: options.for ?? null,
  })
  return {
    fact: { key: { ...apiKey, key: secret, scopes: apiKey.scopes.map(wireScope) } },
    words: plain(secret),
  }
}

export async function remove(
  context: Context,
  named: string,
  workspace: string | undefined,
): Promise<Answer> {
  const { session, workspaceId: id } = await enter(context, workspace)
  const apiKeyId = isId(named) ? named : await idOf(await keysOf(session, id), named)
  await session.change(DeleteKeyDocument, { apiKey: apiKeyId })
  return { fact: { keyId: apiKeyId }, words: '' }
}

function idOf(keys: KeyRowFragment[], name: string): string {
  const found = keys.filter(key => key.name === name)
  const [first] = found
  if (first && found.length === 1) return first.id
  throw first
    ? new Failure(
        'USAGE',
        `Several keys are called ${name}. Use the id of one of them: satchel keys list shows the ids.`,
      )
    : new Failure('API_KEY_NOT_FOUND', `There is no key ${name}. See satchel keys list.`)
}
