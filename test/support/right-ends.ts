import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { hashSecret } from '../../src/runtime/tokens.ts'
import { operatorService } from '../../src/services/accounts/operator.ts'
import { found, join, privateKey, put, workspaceKey } from './builders.ts'
import { type Person, rest, type TestApp } from './harness.ts'

/**
 * The subject of a subscription: the subscriber's own shares, or the usage of someone else's
 * workspace.
 */
type Topic = 'shares' | 'workspace'

/** A person with an open subscription, and the places where they and others end the right to it. */
interface Scene {
  there: TestApp
  person: Person
  owner: Person
  workspaceId: string
  /** The key that opened the subscription, if any. */
  keyId: string
}

/** One way in which the right to a subscription ends. */
interface End {
  /** An action or an experience of the subscriber. */
  how: string
  topic: Topic
  by: 'session' | 'key'
  /** The last message of the subscription. */
  code: string
  end(scene: Scene): Promise<unknown>
}

const send = ({ there }: Scene, who: Person, method: string, path: string, json?: object) =>
  rest(there.url, method, path, { headers: { cookie: who.cookie }, ...(json ? { json } : {}) })

const suspend = ({ there, person }: Scene) =>
  operatorService({ db: there.app.db }).suspend(person.email)
const deleteAccount = (scene: Scene) =>
  send(scene, scene.person, 'DELETE', '/api/user/account/delete', { delete_user_data: true })
const expire = ({ there }: Scene, table: string, column: string, value: string) =>
  there.app.db.run(`UPDATE ${table} SET expires_at = ? WHERE ${column} = ?`, [Date.now(), value])
const removedBy = (scene: Scene, actor: Person) =>
  send(
    scene,
    actor,
    'DELETE',
    `/api/workspaces/members/remove?workspace_id=${scene.workspaceId}&user_id=${scene.person.userId}`,
  )

const credentialEnds: Pick<End, 'how' | 'by' | 'end'>[] = [
  {
    how: 'signs out',
    by: 'session',
    end: scene => send(scene, scene.person, 'POST', '/auth/logout'),
  },
  {
    how: 'lets the session expire',
    by: 'session',
    end: scene => {
      const secret = scene.person.cookie.replace('session_id=', '')
      return expire(scene, 'session', 'hash', hashSecret(secret).toString('hex'))
    },
  },
  { how: 'is suspended', by: 'session', end: suspend },
  { how: 'is suspended', by: 'key', end: suspend },
  { how: 'deletes the account', by: 'session', end: deleteAccount },
  { how: 'deletes the account', by: 'key', end: deleteAccount },
  {
    how: 'lets the key expire',
    by: 'key',
    end: scene => expire(scene, 'api_key', 'id', scene.keyId),
  },
]

const deletesKey = (where: (scene: Scene) => string): Pick<End, 'how' | 'by' | 'end'> => ({
  how: 'deletes the key',
  by: 'key',
  end: scene =>
    send(scene, scene.person, 'DELETE', `/api/api_keys/${where(scene)}/delete`, {
      api_key_id: scene.keyId,
    }),
})

const membershipEnds: Pick<End, 'how' | 'end'>[] = [
  { how: 'is removed', end: scene => removedBy(scene, scene.owner) },
  { how: 'leaves', end: scene => removedBy(scene, scene.person) },
]

const deletesWorkspace = (scene: Scene) =>
  send(scene, scene.owner, 'DELETE', `/api/workspaces/delete?workspace_id=${scene.workspaceId}`)

/** Every way in which the right to a subscription ends. */
const rightEnds: End[] = [
  ...[...credentialEnds, deletesKey(() => 'private')].map(end => ({
    ...end,
    topic: 'shares' as const,
    code: 'UNAUTHENTICATED',
  })),
  ...[...credentialEnds, deletesKey(scene => scene.workspaceId)].map(end => ({
    ...end,
    topic: 'workspace' as const,
    code: 'UNAUTHENTICATED',
  })),
  ...membershipEnds.flatMap(end => [
    { ...end, by: 'session' as const, topic: 'workspace' as const, code: 'FORBIDDEN' },
    // A member's workspace keys are revoked when the membership ends.
    { ...end, by: 'key' as const, topic: 'workspace' as const, code: 'UNAUTHENTICATED' },
  ]),
  {
    how: 'sees it deleted',
    by: 'session',
    topic: 'workspace',
    code: 'FORBIDDEN',
    end: deletesWorkspace,
  },
  // The key is deleted too.
  {
    how: 'sees it deleted',
    by: 'key',
    topic: 'workspace',
    code: 'UNAUTHENTICATED',
    end: deletesWorkspace,
  },
]

/**
 * How the right ends: together with an event that must not be delivered any more, or without an
 * event.
 */
type News = 'and more happens' | 'and nothing more happens'
const allNews: News[] = ['and more happens', 'and nothing more happens']

/** The seconds within which a subscription must end. It checks its right every second. */
const SECONDS = 10

let people = 0

/**
 * Opens a subscription at one instance, sends an event to it, and ends its right at another.
 * Returns all its messages, and how it ended.
 */
async function meet(
  { topic, by, end }: End,
  here: TestApp,
  there: TestApp,
  news: News,
): Promise<string[]> {
  const [owner, person] = await Promise.all([
    here.signIn(`owner${++people}`),
    here.signIn(`subscriber${people}`),
  ])
  await owner.upload('a.txt', 'a')
  const workspaceId = await found(owner)
  await join(here, workspaceId, person, 'admin')
  const newKey = () =>
    topic === 'shares' ? privateKey(here, person) : workspaceKey(here, person, workspaceId)
  const program = by === 'key' ? await newKey() : undefined
  const [bucket] = await here.app.db.rows<{ id: string }>(
    'SELECT id FROM bucket WHERE workspace_id = ?',
    [workspaceId],
  )
  const query =
    topic === 'shares'
      ? 'subscription { shareReceived { fileName } }'
      : `subscription { driveChanged(drive: "${bucket?.id}") { usage { fileCount } } }`
  const share = ({ url }: TestApp) =>
    rest(url, 'POST', '/api/files/share', {
      headers: { cookie: owner.cookie },
      json: { email: person.email, objects: ['a.txt'] },
    })
  const stream = await (program?.caller ?? person).subscribe(query)
  const told = await (topic === 'shares' ? share(here) : put(owner, workspaceId, '/a.txt'))
  if (told.status !== 200) throw new Error(told.text)
  await stream.next()
  await end({ there, person, owner, workspaceId, keyId: program?.id ?? '' })
  if (news === 'and more happens') {
    if (topic === 'shares') await share(there)
    // A deleted workspace cannot be changed any more, so this event is artificial.
    else there.app.pubSub.publish('driveChanged', bucket?.id ?? '')
  }
  const ended = await Promise.race([stream.ended, sleep(SECONDS * 1000, 'goes on', { ref: false })])
  return [
    ...stream.messages.map(
      ({ data, errors }) => errors?.[0]?.extensions.code ?? Object.keys(data).join(),
    ),
    ended,
  ]
}

/**
 * The results of subscriptions that end in every way, several at once, and the expected results.
 */
export async function meetAll(here: TestApp, there: TestApp) {
  const cases = rightEnds.flatMap(end => allNews.map(news => ({ end, news })))
  const titleOf = ({ end: { topic, by, how }, news }: (typeof cases)[number]) =>
    `to ${topic}, opened by ${by}, whose caller ${how}, ${news}`
  // Not all at once, because there are fewer connections to the database.
  const some = pLimit(8)
  const said = await Promise.all(
    cases.map(each =>
      some(async () => [titleOf(each), await meet(each.end, here, there, each.news)]),
    ),
  )
  const first = { shares: 'shareReceived', workspace: 'driveChanged' }
  return {
    said: Object.fromEntries(said),
    wanted: Object.fromEntries(
      cases.map(each => [titleOf(each), [first[each.end.topic], each.end.code, 'complete']]),
    ),
  }
}
