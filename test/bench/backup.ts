/**
 * The time of a backup of many small files, of a second backup without changes, and of a restore,
 * compared with `cp -r` of the blob folder in the same run, with and without waiting for the disk:
 * `npm run bench:backup [-- FILES]`, and `mysql` for that engine. TMPDIR selects the disk. A folder
 * in memory gives meaningless results.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { newMysql } from '../support/mysql.ts'
import { insertFolder } from './folder.ts'
import { startService } from './service.ts'

const [, , ...args] = process.argv
const files = Number(args.find(arg => /^\d+$/.test(arg)) ?? 20_000)
const engine = args.includes('mysql') ? 'mysql' : 'sqlite'
const bench = await startService(engine)
const { db } = bench
const dir = mkdtempSync(join(tmpdir(), 'satchel-bench-backup-'))
await insertFolder(db, bench, 'many', files)
await db.run(
  "INSERT INTO blobs (id, bucket_id, state, reserved_bytes, size, lease_until, created_at) SELECT blob_id, bucket_id, 'live', 0, 10, created_at, created_at FROM entry WHERE blob_id IS NOT NULL",
  [],
)
const blobs = join(bench.dir, 'blobs')
for (let from = ''; ; ) {
  const rows = await db.rows<{ id: string }>(
    'SELECT id FROM blobs WHERE id > ? ORDER BY id LIMIT 1000',
    [from],
  )
  if (rows.length === 0) break
  for (const { id } of rows) {
    const folder = join(blobs, 'blobs', id.slice(0, 7))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, id), '0123456789')
    from = id
  }
}

/** Runs a program, and prints its time and its peak memory. */
async function time(
  title: string,
  program: string,
  given: string[],
  env: Record<string, string> = {},
): Promise<void> {
  const start = performance.now()
  const child = spawn(program, given, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let memory = 0
  const watching = setInterval(() => {
    try {
      memory =
        Number(
          /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? memory,
        ) / 1024
    } catch {}
  }, 100)
  const code = await new Promise(ended => child.once('exit', ended))
  clearInterval(watching)
  if (code !== 0) throw new Error(`${title} ended with ${code}.`)
  const seconds = (performance.now() - start) / 1000
  process.stdout.write(
    `${title.padEnd(28)} ${seconds.toFixed(1)} s, ${Math.round(files / seconds)} files/s, ${memory.toFixed(0)} MiB\n`,
  )
}

const settings = {
  DATA_DIR: bench.dir,
  DATABASE_URL: bench.databaseUrl,
  SECRET_KEY: 's'.repeat(32),
}
const admin = (title: string, given: string[], more: object = {}) =>
  time(title, process.execPath, [resolve('src/admin.ts'), ...given], { ...settings, ...more })
const other = join(dir, 'restored')
const target =
  engine === 'mysql'
    ? await newMysql(process.env.MYSQL_URL || 'mysql://root@127.0.0.1:3306')
    : undefined

await time('sync', 'sync', [])
await time('cp -r', 'cp', ['-r', blobs, join(dir, 'copy')])
await time('cp -r and sync', 'sh', ['-c', `cp -r ${blobs} ${join(dir, 'copy2')} && sync -f ${dir}`])
await admin('backup', ['backup', join(dir, 'backup')])
await admin('backup, nothing new', ['backup', join(dir, 'backup')])
await admin('backup --verify', ['backup', join(dir, 'backup'), '--verify'])
await admin('restore-backup', ['restore-backup', join(dir, 'backup')], {
  DATA_DIR: other,
  DATABASE_URL: target?.url ?? `sqlite:${join(dir, 'restored.sqlite')}`,
})
await bench.stop()
await target?.drop()
rmSync(dir, { recursive: true, force: true })
