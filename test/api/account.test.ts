import { mkdtempSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Db } from '../../db/index.ts'
import { FOLDER } from '../../db/models/entry.ts'
import { callerFinder } from '../../src/access/credential.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createLog } from '../../src/runtime/log.ts'
import { hashSecret } from '../../src/runtime/tokens.ts'
import {
  type AccountService,
  accountService,
  type ProviderProfile,
} from '../../src/services/accounts/account.ts'
import { identityService } from '../../src/services/accounts/identity.ts'
import { proofService } from '../../src/services/accounts/proof.ts'
import { type SessionService, sessionService } from '../../src/services/accounts/session.ts'
import { createDiskStore } from '../../src/storage/disk.ts'
import { freshDatabase } from '../support/fresh-database.ts'

let db: Db
let drop: () => Promise<void>
let accounts: AccountService
/** The service of an instance whose providers do not trust each other. */
let strict: AccountService
let sessions: SessionService

beforeAll(async () => {
  ;({ db, drop } = await freshDatabase())
  accounts = accountService({ db, linkByEmail: true })
  strict = accountService({ db })
  sessions = sessionService({ db, sessionSeconds: 3600 })
})

afterAll(() => drop())

afterEach(async () => {
  for (const table of ['session', 'identity', 'entry', 'bucket', 'user', 'outbox'])
    await db.run(`DELETE FROM ${table}`)
})

/** The profile of a user at the provider "hub", with a verified address. */
const profileOf = (name: string, changes: Partial<ProviderProfile> = {}): ProviderProfile => ({
  provider: 'hub',
  providerUserId: `${name}-1`,
  email: `${name}@example.com`,
  emailVerified: true,
  name,
  givenName: '',
  familyName: '',
  picture: '',
  locale: 'en',
  ...changes,
})

const refused = (reason: string) => expect.objectContaining({ name: 'SignInRefused', reason })
const users = () => db.User.findAll({ raw: true, order: ['createdAt', 'id'] })
const identities = () => db.Identity.findAll({ raw: true, order: ['createdAt', 'id'] })
const mails = async () =>
  (await db.rows<{ payload: string }>('SELECT payload FROM outbox ORDER BY id')).map(row =>
    JSON.parse(row.payload),
  )
const suspend = (userId: string) =>
  db.run("UPDATE user SET status = 'suspended' WHERE id = ?", [userId])

describe('A first sign-in', () => {
  it('creates an account on the free plan, with an identity and an empty storage area', async () => {
    const before = Date.now()
    const profile = profileOf('alice', {
      email: ' Alice@Example.com ',
      name: 'Alice  Mary\nSmith',
      givenName: 'Alice Mary',
      familyName: 'Smith',
      picture: 'https://example.com/alice.png',
    })
    const { userId } = await accounts.signIn(profile, null)
    expect(await users()).toEqual([
      {
        id: userId,
        email: 'Alice@Example.com',
        verifiedEmail: 'alice@example.com',
        name: 'Alice Mary Smith',
        givenName: 'Alice Mary',
        familyName: 'Smith',
        filesView: null,
        picture: 'https://example.com/alice.png',
        locale: 'en',
        language: null,
        planId: 'free',
        planBy: 'default',
        status: 'active',
        createdAt: expect.any(Number),
        signInNotices: 0,
        touched: 0,
      },
    ])
    const [identity] = await identities()
    expect(identity).toMatchObject({
      userId,
      provider: 'hub',
      providerUserId: 'alice-1',
      email: 'Alice@Example.com',
    })
    const [bucket] = await db.Bucket.findAll({ raw: true })
    expect(bucket).toMatchObject({
      userId,
      workspaceId: null,
      usedBytes: 0,
      usedFiles: 0,
      reservedBytes: 0,
      purging: 0,
    })
    expect(bucket?.createdAt).toBeGreaterThanOrEqual(before)
    expect(await db.Entry.findAll({ raw: true })).toEqual([
      expect.objectContaining({
        id: bucket?.rootId,
        bucketId: bucket?.id,
        parentId: null,
        kind: FOLDER,
        name: '',
      }),
    ])
  })

  it('with an unverified address creates an account with an unverified address', async () => {
    await accounts.signIn(profileOf('alice', { emailVerified: false }), null)
    expect(await users()).toEqual([
      expect.objectContaining({ email: 'alice@example.com', verifiedEmail: null }),
    ])
  })

  it('with the verified address of an account joins that account, ignoring case', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    const again = profileOf('alice', {
      provider: 'lab',
      providerUserId: '7',
      email: 'ALICE@example.com',
    })
    expect(await accounts.signIn(again, null)).toEqual(alice)
    expect(await users()).toHaveLength(1)
    expect((await identities()).map(i => [i.provider, i.userId])).toEqual([
      ['hub', alice.userId],
      ['lab', alice.userId],
    ])
  })

  it('with a verified address fails with identity_taken where providers do not trust each other', async () => {
    const alice = await strict.signIn(profileOf('alice'), null)
    const again = profileOf('alice', { provider: 'lab', providerUserId: '7' })
    await expect(strict.signIn(again, null)).rejects.toEqual(refused('identity_taken'))
    expect(await identities()).toHaveLength(1)
    // The person adds the identity while signed in, and can use both from then on.
    await strict.signIn(again, alice)
    expect(await strict.signIn(again, null)).toEqual(alice)
  })

  it('of another user of the same provider never joins an account: identity_taken', async () => {
    await accounts.signIn(profileOf('alice'), null)
    for (const service of [accounts, strict])
      for (const email of ['alice@example.com', 'ALICE@Example.com']) {
        const other = profileOf('alice', { providerUserId: 'alice-2', email })
        await expect(service.signIn(other, null)).rejects.toEqual(refused('identity_taken'))
      }
    await accounts.signIn(profileOf('alice', { provider: 'lab' }), null)
    const other = profileOf('alice', { provider: 'lab', providerUserId: 'alice-2' })
    await expect(accounts.signIn(other, null)).rejects.toEqual(refused('identity_taken'))
    expect(await identities()).toHaveLength(2)
  })

  it('with an unverified address never joins an account: email_unverified', async () => {
    await accounts.signIn(profileOf('alice'), null)
    const claim = profileOf('alice', { provider: 'lab', emailVerified: false })
    await expect(accounts.signIn(claim, null)).rejects.toEqual(refused('email_unverified'))
    expect(await identities()).toHaveLength(1)
  })

  it('with a verified address does not join an account that has it unverified', async () => {
    const mallory = await accounts.signIn(
      profileOf('alice', { provider: 'lab', emailVerified: false }),
      null,
    )
    const alice = await accounts.signIn(profileOf('alice'), null)
    expect(alice.userId).not.toBe(mallory.userId)
    expect(await db.User.findByPk(mallory.userId, { raw: true })).toMatchObject({
      verifiedEmail: null,
    })
  })

  it('treats the same id at another provider as another person', async () => {
    const alice = await accounts.signIn(profileOf('alice', { providerUserId: '1' }), null)
    const bob = await accounts.signIn(
      profileOf('bob', { providerUserId: '1', provider: 'lab' }),
      null,
    )
    expect(bob.userId).not.toBe(alice.userId)
  })

  it('shortens names that are too long, and drops an unusable picture or locale', async () => {
    const picture = `https://example.com/${'a'.repeat(2048)}`
    await accounts.signIn(
      profileOf('alice', { name: '🦊'.repeat(300), picture, locale: 'e'.repeat(36) }),
      null,
    )
    await accounts.signIn(
      profileOf('bob', { name: 'B\ud800b', picture: 'javascript:alert(1)' }),
      null,
    )
    expect(await users()).toEqual([
      expect.objectContaining({ name: '🦊'.repeat(255), picture: '', locale: '' }),
      expect.objectContaining({ name: 'B\ufffdb', picture: '' }),
    ])
  })

  it.each<[string, Partial<ProviderProfile>]>([
    ['no address', { email: '' }],
    ['an address without @', { email: 'alice' }],
    ['an address without a domain', { email: 'alice@' }],
    ['an address with a line break', { email: 'alice@example.com\r\nBcc: bob@example.com' }],
    ['an address with an invisible character', { email: 'ali\u200bce@example.com' }],
    ['an address of more than 320 characters', { email: `${'a'.repeat(310)}@example.com` }],
    ['an address that grows too long in lower case', { email: `${'İ'.repeat(200)}@example.com` }],
    ['no id', { providerUserId: '' }],
    ['an id of more than 255 characters', { providerUserId: '1'.repeat(256) }],
    ['an id that MySQL would confuse with another', { providerUserId: 'alice-1 ' }],
    ['an id with a control character', { providerUserId: 'alice\0' }],
  ])('is refused for a profile with %s: auth_failed', async (_what, changes) => {
    await expect(accounts.signIn(profileOf('alice', changes), null)).rejects.toEqual(
      refused('auth_failed'),
    )
    expect(await users()).toEqual([])
  })
})

describe('A later sign-in', () => {
  it('finds the account by its identity, and updates the address of both', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    const changes = {
      email: 'smith@example.com',
      name: 'A. Smith',
      picture: 'https://example.com/new.png',
    }
    expect(await accounts.signIn(profileOf('alice', changes), null)).toEqual(alice)
    expect(await identities()).toEqual([
      expect.objectContaining({
        email: 'smith@example.com',
        name: 'A. Smith',
        avatarUrl: 'https://example.com/new.png',
      }),
    ])
    expect(await users()).toEqual([
      expect.objectContaining({
        email: 'smith@example.com',
        verifiedEmail: 'smith@example.com',
        name: 'alice',
      }),
    ])
  })

  it('queues a notice to the former address only when the address changes', async () => {
    await accounts.signIn(profileOf('alice'), null)
    await accounts.signIn(profileOf('alice', { email: 'Alice@Example.com' }), null)
    expect(await mails()).toEqual([])
    await accounts.signIn(profileOf('alice', { email: 'smith@example.com' }), null)
    expect(await mails()).toEqual([
      { template: 'address-changed', to: 'alice@example.com', values: { provider: 'hub' } },
    ])
    expect(await users()).toEqual([expect.objectContaining({ verifiedEmail: 'smith@example.com' })])
  })

  it('removes the verification when the provider no longer vouches for the address', async () => {
    await accounts.signIn(profileOf('alice'), null)
    await accounts.signIn(profileOf('alice', { emailVerified: false }), null)
    expect(await users()).toEqual([
      expect.objectContaining({ email: 'alice@example.com', verifiedEmail: null }),
    ])
    await accounts.signIn(profileOf('alice'), null)
    expect(await users()).toEqual([expect.objectContaining({ verifiedEmail: 'alice@example.com' })])
  })

  it('takes the address only from the identity that provided it', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    const lab = profileOf('alice', { provider: 'lab', emailVerified: false })
    await accounts.signIn(lab, alice)
    await accounts.signIn({ ...lab, email: 'other@lab.example', emailVerified: true }, null)
    await accounts.signIn({ ...lab, email: 'another@lab.example', emailVerified: true }, null)
    await accounts.signIn({ ...lab, emailVerified: false }, null)
    expect(await users()).toEqual([
      expect.objectContaining({ email: 'alice@example.com', verifiedEmail: 'alice@example.com' }),
    ])
  })

  it('leaves an account without an address when its new address belongs to another account', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    const bob = await accounts.signIn(profileOf('bob'), null)
    await accounts.signIn(profileOf('bob', { email: 'alice@example.com' }), null)
    expect(await db.User.findByPk(alice.userId, { raw: true })).toMatchObject({
      verifiedEmail: 'alice@example.com',
    })
    expect(await db.User.findByPk(bob.userId, { raw: true })).toMatchObject({ verifiedEmail: null })
    // Once the provider reports another address for alice, bob may have hers.
    await accounts.signIn(profileOf('alice', { email: 'smith@example.com' }), null)
    await accounts.signIn(profileOf('bob', { email: 'alice@example.com' }), null)
    expect(await db.User.findByPk(bob.userId, { raw: true })).toMatchObject({
      verifiedEmail: 'alice@example.com',
    })
  })

  it('gives the account an address that its provider has verified since', async () => {
    await accounts.signIn(
      profileOf('alice', { emailVerified: false, email: 'old@example.com' }),
      null,
    )
    await accounts.signIn(profileOf('alice', { email: 'Alice@example.com' }), null)
    expect(await users()).toEqual([
      expect.objectContaining({ email: 'Alice@example.com', verifiedEmail: 'alice@example.com' }),
    ])
  })

  it('leaves an address with the account that has it', async () => {
    const claim = profileOf('alice', { provider: 'lab', emailVerified: false })
    const late = await accounts.signIn(claim, null)
    await accounts.signIn(profileOf('alice'), null)
    expect(await accounts.signIn({ ...claim, emailVerified: true }, null)).toEqual(late)
    expect(await db.User.findByPk(late.userId, { raw: true })).toMatchObject({
      verifiedEmail: null,
    })
  })

  it('is refused to a suspended account, by its identity and by its address: auth_failed', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    await suspend(alice.userId)
    await expect(accounts.signIn(profileOf('alice'), null)).rejects.toEqual(refused('auth_failed'))
    await expect(accounts.signIn(profileOf('alice', { provider: 'lab' }), null)).rejects.toEqual(
      refused('auth_failed'),
    )
    expect(await identities()).toHaveLength(1)
  })
})

describe('Signed in already', () => {
  it('a provider that the owner never used cannot take over data kept for an earlier account', async () => {
    const { userId } = await strict.signIn(profileOf('erin'), null)
    await db.run(
      "UPDATE bucket SET user_id = NULL, kept_for = 'erin@example.com', kept_until = ?, kept_providers = 'hub' WHERE user_id = ?",
      [Date.now() + 86_400_000, userId],
    )
    await db.run('DELETE FROM identity WHERE user_id = ?', [userId])
    await db.run('DELETE FROM user WHERE id = ?', [userId])
    const mallory = await strict.signIn(
      profileOf('mallory', { provider: 'lab', emailVerified: false }),
      null,
    )
    await strict.signIn(
      profileOf('erin', { provider: 'lab', providerUserId: 'erin-at-lab' }),
      mallory,
    )
    const kept = await db.rows(
      'SELECT id FROM bucket WHERE kept_for IS NOT NULL AND user_id IS NULL',
    )
    expect(kept).toHaveLength(1)
    // Providers that trust each other restore the address.
    const erin = await accounts.signIn(
      profileOf('erin2', { provider: 'lab', emailVerified: false }),
      null,
    )
    await db.run('UPDATE user SET verified_email = NULL WHERE id = ?', [mallory.userId])
    await db.run("DELETE FROM identity WHERE provider_user_id = 'erin-at-lab'")
    await accounts.signIn(
      profileOf('erin', { provider: 'lab', providerUserId: 'erin-at-lab' }),
      erin,
    )
    expect(await db.rows('SELECT id FROM bucket WHERE kept_for IS NOT NULL')).toEqual([])
  })

  it('attaches a new identity to the account, whatever its address', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    await accounts.signIn(profileOf('bob'), null)
    const other = profileOf('bob', { provider: 'lab', emailVerified: false })
    expect(await accounts.signIn(other, alice)).toEqual(alice)
    expect(await accounts.signIn(profileOf('bob', { provider: 'pub' }), alice)).toEqual(alice)
    expect(
      (await identities()).filter(i => i.userId === alice.userId).map(i => i.provider),
    ).toEqual(['hub', 'lab', 'pub'])
    expect(await users()).toHaveLength(2)
  })

  it('gives an account without a verified address the address of its new identity', async () => {
    const alice = await accounts.signIn(profileOf('alice', { emailVerified: false }), null)
    await accounts.signIn(profileOf('smith', { provider: 'lab' }), alice)
    expect(await users()).toEqual([
      expect.objectContaining({ email: 'smith@example.com', verifiedEmail: 'smith@example.com' }),
    ])
  })

  it('accepts an identity that the account already has', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    expect(await accounts.signIn(profileOf('alice'), alice)).toEqual(alice)
  })

  it('refuses the identity of another account: identity_taken', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    await accounts.signIn(profileOf('bob'), null)
    await expect(accounts.signIn(profileOf('bob'), alice)).rejects.toEqual(
      refused('identity_taken'),
    )
  })

  it('refuses an identity for an account that has been suspended or deleted since: auth_failed', async () => {
    const alice = await accounts.signIn(profileOf('alice'), null)
    const other = profileOf('alice', { provider: 'lab' })
    await suspend(alice.userId)
    await expect(accounts.signIn(other, alice)).rejects.toEqual(refused('auth_failed'))
    await db.run('DELETE FROM user WHERE id = ?', [alice.userId])
    await expect(accounts.signIn(other, alice)).rejects.toEqual(refused('auth_failed'))
  })
})

describe('Removing an identity', () => {
  it('removes its address, and sends a notice to it', async () => {
    const account = await accounts.signIn(profileOf('alice'), null)
    await accounts.signIn(
      profileOf('alice', { provider: 'lab', email: 'alice@lab.example' }),
      account,
    )
    const { secret } = await sessions.start(account.userId)
    const caller = await callerFinder(db)({
      headers: { cookie: `session_id=${secret}` },
    } as IncomingMessage)
    const hub = (await identities()).find(({ provider }) => provider === 'hub')
    if (!caller || !hub) throw new Error('Alice is not signed in by the hub.')
    const proofs = proofService({ db, publicUrl: () => '', hasAccounts: false })
    await identityService({ db, accounts, proofs }).remove(caller, hub.id)
    expect(await users()).toMatchObject([
      { email: 'alice@lab.example', verifiedEmail: 'alice@lab.example' },
    ])
    const notice = {
      template: 'address-changed',
      to: 'alice@example.com',
      values: { provider: null },
    }
    expect(await mails()).toEqual([notice])
  })
})

describe('Races', () => {
  const ten = Array.from({ length: 10 }, (_, i) => i)

  async function expectOneAccount(results: { userId: string }[]) {
    const [user, ...more] = await users()
    expect(more).toEqual([])
    expect(new Set(results.map(r => r.userId))).toEqual(new Set([user?.id]))
    expect(await db.Bucket.count()).toBe(1)
    expect(await db.Entry.count()).toBe(1)
  }

  it('ten first sign-ins of one identity create one account', async () => {
    await expectOneAccount(
      await Promise.all(ten.map(() => accounts.signIn(profileOf('alice'), null))),
    )
    expect(await identities()).toHaveLength(1)
  })

  it('ten first sign-ins of one identity create one account where providers do not trust each other', async () => {
    await expectOneAccount(
      await Promise.all(ten.map(() => strict.signIn(profileOf('alice'), null))),
    )
    expect(await identities()).toHaveLength(1)
  })

  it('ten first sign-ins with one verified address create one account with ten identities', async () => {
    const profiles = ten.map(i => profileOf('alice', { provider: `hub-${i}` }))
    await expectOneAccount(
      await Promise.all(profiles.map(profile => accounts.signIn(profile, null))),
    )
    expect(await identities()).toHaveLength(10)
  })

  it('only one of ten accounts attaches the same identity', async () => {
    const people = await Promise.all(ten.map(i => accounts.signIn(profileOf(`person${i}`), null)))
    const shared = profileOf('alice', { provider: 'lab' })
    const results = await Promise.allSettled(people.map(person => accounts.signIn(shared, person)))
    expect(results.filter(r => r.status === 'fulfilled')).toHaveLength(1)
    for (const r of results)
      if (r.status === 'rejected') expect(r.reason).toEqual(refused('identity_taken'))
    expect((await identities()).filter(i => i.provider === 'lab')).toHaveLength(1)
  })

  it('only one of ten accounts gets the same verified address', async () => {
    const claims = ten.map(i => profileOf('alice', { provider: `hub-${i}`, emailVerified: false }))
    for (const claim of claims) await accounts.signIn(claim, null)
    await Promise.all(claims.map(claim => accounts.signIn({ ...claim, emailVerified: true }, null)))
    expect((await users()).map(u => u.verifiedEmail).sort()).toEqual([
      'alice@example.com',
      ...Array(9).fill(null),
    ])
  })
})

describe('A session', () => {
  const viewerOf = (secret: string) => {
    const headers = { cookie: `session_id=${secret}` }
    return callerFinder(db)(Object.assign(Object.create(null), { headers }))
  }

  it('is stored only as the hash of its secret, and expires on time', async () => {
    const { userId } = await accounts.signIn(profileOf('alice'), null)
    const { secret, expiresAt } = await sessions.start(userId)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(Math.abs(expiresAt - Date.now() - 3_600_000)).toBeLessThan(10_000)
    const [row] = await db.Session.findAll({ raw: true })
    expect(row).toEqual({
      hash: hashSecret(secret).toString('hex'),
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      userId,
      createdAt: expiresAt - 3_600_000,
      expiresAt,
      lastUsedAt: expiresAt - 3_600_000,
      device: '',
      address: '',
      provider: null,
      providerSession: null,
      providerIssuedAt: null,
      provedAt: null,
      touched: 0,
    })
    expect(await viewerOf(secret)).toMatchObject({ userId, via: 'session', expiresAt })
  })

  it('is revoked by its own secret, and not by that of another session of the user', async () => {
    const { userId } = await accounts.signIn(profileOf('alice'), null)
    const [first, second] = [await sessions.start(userId), await sessions.start(userId)]
    await sessions.end(first.secret)
    await sessions.end(first.secret)
    expect([await viewerOf(first.secret), (await viewerOf(second.secret))?.userId]).toEqual([
      null,
      userId,
    ])
  })

  it('is deleted by the sweeper after it expires, however many there are', async () => {
    const { userId } = await accounts.signIn(profileOf('alice'), null)
    const over = Array.from({ length: 1201 }, (_, i) => ({
      hash: i.toString(16).padStart(64, '0'),
      id: `session ${i}`,
      userId,
      createdAt: 0,
      expiresAt: Date.now() - i,
      lastUsedAt: 0,
      device: '',
      address: '',
    }))
    await db.Session.bulkCreate(over)
    const live = await sessions.start(userId)
    const store = createDiskStore({ dir: mkdtempSync(join(tmpdir(), 'satchel-unused-')) })
    await store.prepare()
    await store.bind('a test', false)
    const log = createLog({ logLevel: 'warn' })
    const kept = { purgeExpired: async () => {}, trimOverfull: async () => {} }
    const parts = { db, store, kept, log, contents: { forget: async () => {} } }
    const sweepers = [1, 2].map(() =>
      createSweeper({ ...parts, everyMs: 3_600_000, eventDays: 90 }),
    )
    await Promise.all(sweepers.map(sweeper => sweeper.run()))
    expect(await db.Session.count()).toBe(1)
    expect(await viewerOf(live.secret)).not.toBeNull()
  })
})
