/**
 * The cost of deleting a folder of 1,000,000 files, and of restoring it from the trash: `npm run
 * bench:trash [-- FILES]`. Counts the statements and the milliseconds of the request, which has its
 * own connection.
 */
import { insertFolder } from './folder.ts'
import { median } from './service.ts'

interface Cost {
  ms: number
  statements: number
}

const FILES = Number(process.argv[2] || 1_000_000)
const ROUNDS = 9

for (const engine of ['sqlite', 'mysql']) {
  process.env.TEST_MYSQL_URL ??= process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306'
  Object.assign(globalThis, { engine, storeUnderTest: 'disk' })
  const { startApp } = await import('../support/harness.ts')
  const t = await startApp()
  await t.limit({ maxFiles: null, maxFolders: null, maxTotalStorageBytes: 2 ** 43 })
  const { userId, graphql } = await t.signIn('bench')
  const [bucket] = await t.app.db.rows<{ bucketId: string; rootId: string }>(
    'SELECT id AS bucketId, root_id AS rootId FROM bucket WHERE user_id = ?',
    [userId],
  )
  if (!bucket) throw new Error('The account has no bucket.')
  let id = await insertFolder(t.app.db, { ...bucket, userId }, 'big', FILES)
  const usage = async () =>
    t.app.db.Bucket.findByPk(bucket.bucketId, {
      attributes: ['usedFiles', 'usedBytes', 'keptBytes'],
      raw: true,
    })

  const costs = { delete: [] as Cost[], restore: [] as Cost[] }
  async function run(what: keyof typeof costs, mutation: string): Promise<string> {
    t.statements()
    const since = performance.now()
    const { data, errors } = await graphql<{ result: { done: { id: string }[] } | null }>(
      `mutation { result: ${mutation} }`,
    )
    costs[what].push({ ms: performance.now() - since, statements: t.statements().length })
    const done = data?.result?.done[0]
    if (!done) throw new Error(JSON.stringify(errors))
    return done.id
  }
  for (let round = 0; round <= ROUNDS; round++) {
    const item = await run(
      'delete',
      `deleteEntries(input: { entries: [{ id: "${id}" }], recursive: true }) { done: trashItems { id } }`,
    )
    const deleted = await usage()
    id = await run(
      'restore',
      `restoreFromTrash(input: { items: ["${item}"] }) { done: entries { id } }`,
    )
    const restored = await usage()
    if (
      deleted?.usedFiles !== 0 ||
      deleted.keptBytes !== restored?.usedBytes ||
      restored.usedFiles !== FILES
    )
      throw new Error(JSON.stringify({ deleted, restored }))
  }
  for (const [what, [first, ...later]] of Object.entries(costs)) {
    const ms = later.map(cost => cost.ms)
    const times = `${median(ms).toFixed(1)} ms (median of ${ROUNDS}, longest ${Math.max(...ms).toFixed(1)}, the first time ${first?.ms.toFixed(1)})`
    console.log(
      `${engine.padEnd(6)} ${what.padEnd(7)} ${later[0]?.statements} statements, ${times}`,
    )
  }
  await t.stop()
}
