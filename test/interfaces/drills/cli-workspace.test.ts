import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openWarmShell, type Shell } from '../../support/command-line.ts'
import { type Person, startApp, type TestApp } from '../../support/harness.ts'
import { anId, aTime } from '../../support/shapes.ts'

let t: TestApp
let alice: Person
let bob: Person
let shell: Shell
let bobs: Shell

const shellOf = ({ cookie }: Person) =>
  openWarmShell({ SATCHEL_URL: t.url, SATCHEL_SESSION: cookie.replace('session_id=', '') })

beforeAll(async () => {
  t = await startApp()
  alice = await t.signIn('alice')
  bob = await t.signIn('bob')
  shell = shellOf(alice)
  bobs = shellOf(bob)
})
afterAll(async () => {
  for (const each of [shell, bobs]) each?.close()
  await t.stop()
})

describe('satchel workspace', () => {
  it('create, list, rename', async () => {
    expect(
      (await shell.satchel(['workspace', 'create', 'Our garden', '--slug', 'garden'])).out,
    ).toBe('garden\n')
    expect(await shell.refused('workspace', 'create', 'Another', '--slug', 'garden')).toMatchObject(
      {
        code: 5,
        error: { code: 'SLUG_TAKEN' },
      },
    )
    const { workspace } = await shell.json('workspace', 'rename', 'garden', 'Garden')
    expect(workspace).toEqual({
      workspace_id: anId,
      name: 'Garden',
      slug: 'garden',
      role: 'owner',
      created_at: aTime,
    })
    expect(await shell.json('workspace', 'list')).toEqual({ workspaces: [workspace] })
    expect((await shell.satchel(['workspace', 'list'])).out).toMatch(
      /^SLUG +NAME +ROLE +SINCE +ID\ngarden +Garden +owner /,
    )
  })

  it('invite, invites, accept: by the workspace name, the token or the link', async () => {
    const { invite } = await shell.json(
      ...[
        'workspace',
        'invite',
        'garden',
        'bob@example.com',
        '--role',
        'editor',
        '--message',
        'Come and see.',
      ],
    )
    expect(invite).toMatchObject({ email: 'bob@example.com', role: 'editor', expires_at: aTime })
    expect((await shell.json('workspace', 'invites', 'garden')).invites).toMatchObject([
      { id: invite.id },
    ])
    const { invites } = await bobs.json('workspace', 'invites')
    expect(invites).toMatchObject([
      { workspace_slug: 'garden', workspace_name: 'Garden', role: 'editor' },
    ])

    expect(await shell.json('workspace', 'uninvite', 'garden', 'BOB@example.com')).toEqual({
      invite_id: invite.id,
    })
    expect(await bobs.refused('workspace', 'accept', invites[0].token)).toMatchObject({ code: 4 })
    const again = async () => {
      await shell.json('workspace', 'invite', 'garden', 'bob@example.com')
      return (await bobs.json('workspace', 'invites')).invites[0].token as string
    }
    expect(await bobs.json('workspace', 'reject', `${t.url}/invite/${await again()}`)).toEqual({
      rejected: true,
    })
    await again()
    const { out } = await bobs.satchel(['workspace', 'accept', 'garden'])
    expect(out).toBe('You joined Garden (garden) as viewer.\n')
    expect(await bobs.refused('workspace', 'accept', 'garden')).toMatchObject({
      code: 4,
      error: { code: 'INVITE_NOT_FOUND' },
    })
    expect(await shell.refused('workspace', 'invite', 'garden', 'bob@example.com')).toMatchObject({
      code: 5,
    })
  })

  it('members, role: by address or id', async () => {
    const { members } = await shell.json('workspace', 'members', 'garden')
    expect(members).toMatchObject([
      { email: 'alice@example.com', role: 'owner', user_id: alice.userId },
      { email: 'bob@example.com', role: 'viewer', user_id: bob.userId, joined_at: aTime },
    ])
    expect((await shell.satchel(['workspace', 'members', 'garden:/'])).out).toMatch(
      /^E-MAIL +NAME +ROLE +SINCE\n/,
    )
    expect((await bobs.refused('mkdir', 'garden:/x')).error).toMatchObject({ code: 'FORBIDDEN' })
    expect(await shell.json('workspace', 'role', 'garden', 'Bob@example.com', 'editor')).toEqual({
      member: { user_id: bob.userId, role: 'editor' },
    })
    expect((await bobs.satchel(['mkdir', 'garden:/x'])).code).toBe(0)
    expect(
      (await shell.json('workspace', 'role', 'garden', bob.userId, 'viewer')).member.role,
    ).toBe('viewer')
    expect(
      await bobs.refused('workspace', 'role', 'garden', 'alice@example.com', 'viewer'),
    ).toMatchObject({ code: 3 })
    expect(
      await shell.refused('workspace', 'role', 'garden', 'carol@example.com', 'viewer'),
    ).toMatchObject({
      code: 4,
      error: { code: 'MEMBER_NOT_FOUND' },
    })
  })

  it('leave and remove', async () => {
    expect(await bobs.json('workspace', 'leave', 'garden')).toMatchObject({ user_id: bob.userId })
    expect(await bobs.refused('ls', 'garden:/')).toMatchObject({
      code: 4,
      error: { code: 'WORKSPACE_NOT_FOUND' },
    })
    expect(await shell.refused('workspace', 'leave', 'garden')).toMatchObject({
      code: 3,
      error: { code: 'LAST_OWNER' },
    })
    await shell.json('workspace', 'invite', 'garden', 'bob@example.com')
    await bobs.json('workspace', 'accept', 'garden')
    expect(await shell.json('workspace', 'remove', 'garden', 'bob@example.com')).toMatchObject({
      user_id: bob.userId,
    })
    expect((await shell.json('workspace', 'members', 'garden')).members).toHaveLength(1)
  })

  it('delete requires confirmation', async () => {
    expect(await shell.refused('workspace', 'delete', 'garden')).toMatchObject({
      code: 2,
      error: { code: 'USAGE' },
    })
    expect(
      (await shell.satchel(['workspace', 'delete', 'garden'], { stdin: 'garden\n' })).code,
    ).toBe(2)
    expect((await shell.json('workspace', 'list')).workspaces).toHaveLength(1)
    expect((await shell.satchel(['workspace', 'delete', 'garden', '--yes'])).code).toBe(0)
    expect(await shell.json('workspace', 'list')).toEqual({ workspaces: [] })
    expect(await shell.refused('workspace', 'delete', 'garden', '--yes')).toMatchObject({ code: 4 })
  })
})

describe('satchel keys', () => {
  it('creates a working key, lists it without its secret, and deletes it by its name', async () => {
    const { key } = await shell.json(
      ...[
        'keys',
        'create',
        'laptop',
        '--scope',
        'read',
        '--scope',
        'private_files:write',
        '--for',
        '90 days',
      ],
    )
    expect(key).toMatchObject({
      scopes: ['private_files:read', 'private_files:write'],
      expires_at: aTime,
    })
    const own = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: key.key })
    expect((await own.json('ls')).path).toBe('/')
    expect(await own.refused('keys', 'list')).toMatchObject({
      code: 3,
      error: { code: 'KEY_OUT_OF_BOUNDS' },
    })

    const { keys } = await shell.json('keys', 'list')
    expect(keys).toMatchObject([
      { id: key.id, name: 'laptop', status: 'active', key_hint: expect.any(String) },
    ])
    const { out } = await shell.satchel(['keys', 'list'])
    expect(out).toMatch(/laptop +\.\.\.\S+ +active +read write /)
    expect(JSON.stringify(keys) + out).not.toContain(key.key)

    expect(await shell.json('keys', 'delete', 'laptop')).toEqual({ key_id: key.id })
    expect(await own.refused('ls')).toMatchObject({ code: 3, error: { code: 'UNAUTHENTICATED' } })
    expect(await shell.refused('keys', 'delete', 'laptop')).toMatchObject({
      code: 4,
      error: { code: 'API_KEY_NOT_FOUND' },
    })
    own.close()
  })

  it('of a workspace', async () => {
    await shell.json('workspace', 'create', 'Park')
    const { out } = await shell.satchel([
      'keys',
      'create',
      'backup',
      '--workspace',
      'park',
      '--scope',
      'files:read',
      '--scope',
      'read',
    ])
    const own = openWarmShell({ SATCHEL_URL: t.url, SATCHEL_KEY: out.trim() })
    expect((await own.json('ls', 'park:/')).path).toBe('park:/')
    expect(await own.refused('ls', '/')).toMatchObject({
      code: 3,
      error: { code: 'KEY_OUT_OF_BOUNDS' },
    })
    expect(await own.refused('mkdir', 'park:/x')).toMatchObject({
      code: 3,
      error: { code: 'INSUFFICIENT_SCOPE' },
    })
    const { keys } = await shell.json('keys', 'list', '--workspace', 'park')
    expect(keys).toMatchObject([
      { name: 'backup', scopes: expect.arrayContaining(['workspaces:files:read']) },
    ])
    await shell.json('keys', 'delete', keys[0].id, '--workspace', 'park')
    expect((await own.satchel(['ls', 'park:/'])).code).toBe(3)
    own.close()
  })

  it.each<[number, string, string[]]>([
    [2, 'USAGE', ['create', 'x']],
    [2, 'INVALID_SCOPE', ['create', 'x', '--scope', 'everything']],
    [2, 'USAGE', ['create', 'x', '--scope', 'read', '--for', 'ever']],
  ])('exits with %i %s for %j', async (exit, code, args) => {
    expect(await shell.refused('keys', ...args)).toMatchObject({ code: exit, error: { code } })
  })

  it('exits with 6 beyond the limit of the plan, and with 7 at the rate limit', async () => {
    const args = ['keys', 'create', 'k', '--scope', 'read', '--retries', '0']
    const until = async (left: number): Promise<number | null> => {
      const { code } = await shell.satchel(args)
      return code === 0 && left > 0 ? until(left - 1) : code
    }
    expect(await until(6)).toBe(6)
    await t.limit({ maxPrivateApiKeys: 100 })
    expect(await until(11)).toBe(7)
  })
})
