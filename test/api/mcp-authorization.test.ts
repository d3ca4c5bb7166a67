import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { privateScopes } from '../../src/access/scopes.ts'
import { tools } from '../../src/mcp/tools.ts'
import {
  expectedByMcp,
  type McpCaller,
  type McpOutcome,
  type McpRow,
  mcpRows,
} from '../support/authorization-mcp.ts'
import { found, privateKey, ROOMY, UNHURRIED, workspaceKey } from '../support/builders.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { rpc } from '../support/mcp.ts'
import { connect } from '../support/oauth-client.ts'
import { picture } from '../support/pictured.ts'

// Every tool with every kind of caller.

const levels = ['read', 'write', 'delete', 'share']
const scopesOf = (some: readonly string[]) => some.map(level => `private_files:${level}`)

let t: TestApp
let owner: Person
const callers: (McpCaller & { token: string | null; cookie?: string })[] = []

beforeAll(async () => {
  t = await startApp({ ...UNHURRIED, PREVIEWS: 'true' })
  await t.limit({ ...ROOMY, maxFiles: null, maxPublicLinks: null })
  owner = await t.signIn('owner')
  const other = await t.signIn('other')
  const add = (title: string, token: string | null, some: readonly string[] | null, who = owner) =>
    callers.push({ title, token, levels: some, isOwner: who === owner })
  add('no credential', null, null)
  callers.push({
    title: 'session of the owner',
    token: null,
    cookie: owner.cookie,
    levels: null,
    isOwner: true,
  })
  add('wrong key', `satchel_${'x'.repeat(43)}`, null)
  add('key with all scopes', (await privateKey(t, owner)).key, levels)
  for (const level of levels) {
    add(`key with ${level}`, (await privateKey(t, owner, scopesOf([level]))).key, [level])
    const { access } = await connect(t.url, owner, scopesOf([level]))
    add(`grant with ${level}`, access, [level])
  }
  const deleted = await privateKey(t, owner)
  await t.app.db.run('DELETE FROM api_key WHERE id = ?', [deleted.id])
  add('deleted key', deleted.key, null)
  const expired = await privateKey(t, owner)
  await t.app.db.run('UPDATE api_key SET expires_at = 1 WHERE id = ?', [expired.id])
  add('expired key', expired.key, null)
  const ended = await connect(t.url, owner, [...privateScopes])
  const body = new URLSearchParams({ token: ended.access })
  await fetch(`${t.url}/oauth/revoke`, { method: 'POST', body })
  add('revoked grant', ended.access, null)
  add('refresh token', (await connect(t.url, owner, [...privateScopes])).refresh, null)
  const gone = await t.signIn('gone')
  add('key of a suspended person', (await privateKey(t, gone)).key, null, gone)
  add('grant of a suspended person', (await connect(t.url, gone)).access, null, gone)
  await t.app.db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [gone.userId])
  add('key of another person', (await privateKey(t, other)).key, levels, other)
  const strange = await connect(t.url, other, [...privateScopes])
  add('grant of another person', strange.access, levels, other)
})
afterAll(() => t?.stop())

let made = 0
async function outcomeOf(
  row: McpRow,
  { token, cookie }: { token: string | null; cookie?: string },
): Promise<McpOutcome | number | string> {
  const name = `aim ${++made}.png`
  const fileId = (await owner.upload(name, picture)).response.file.id
  const params = { name: row.tool, arguments: row.given({ fileId, name: `aim ${made}` }) }
  // A picture has no text.
  if (row.tool === 'read_text') {
    const text = await owner.upload(`aim ${made}.txt`, 'text')
    params.arguments = { id: text.response.file.id }
  }
  const { status, said } = await rpc(
    t.url,
    token,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    cookie === undefined ? {} : { cookie },
  )
  if (status !== 200) return status
  const { isError, content } = said.result
  return isError ? JSON.parse(content[0].text).code : 'yes'
}

describe('Permissions of assistants', () => {
  it.each(mcpRows.map(row => [row.tool, row] as const))(
    '%s',
    async (_tool, row) => {
      const outcomes: Record<string, unknown> = {}
      for (const caller of callers) outcomes[caller.title] = await outcomeOf(row, caller)
      expect(outcomes).toEqual(
        Object.fromEntries(callers.map(caller => [caller.title, expectedByMcp(row, caller)])),
      )
    },
    60_000,
  )

  it('are tested for every tool', () => {
    expect(mcpRows.map(({ tool }) => tool).sort()).toEqual(tools.map(({ name }) => name).sort())
  })

  it('of a key of a workspace end at its workspace', async () => {
    const workspaceId = await found(owner)
    const { key } = await workspaceKey(t, owner, workspaceId, ['workspaces:files:read'])
    const row = mcpRows.find(({ tool }) => tool === 'file_details') as McpRow
    expect(await outcomeOf(row, { token: key })).toBe('KEY_OUT_OF_BOUNDS')
    const link = mcpRows.find(({ tool }) => tool === 'create_link') as McpRow
    expect(await outcomeOf(link, { token: key })).toBe(403)
  })
})
