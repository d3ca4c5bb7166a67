import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrate } from '../../../db/migrate.ts'
import { isHeld } from '../../../db/queries/deletion-hold.ts'
import { writeManifest } from '../../../src/backup/manifest.ts'
import {
  backUp,
  blobsIn,
  newPlace,
  type Place,
  randomFile,
  restoreInto,
} from '../../support/backup-world.ts'
import { COMPILED, launch, runBuilt } from '../../support/built-service.ts'
import { runWarm } from '../../support/command-line.ts'
import { findingsOf } from '../../support/consistency.ts'
import type { Person, TestApp } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

let dir: string
const places: Place[] = []
let source: Place
let t: TestApp
let alice: Person

async function place(): Promise<Place> {
  const made = await newPlace()
  places.push(made)
  return made
}

// The backup stores two lists: one of 512 files, and the rest.
const FILES = 600

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'satchel-backups-'))
  source = await place()
  t = await source.start()
  alice = await t.signIn('alice')
  await t.limit({ maxFiles: null, maxFolders: null })
  let next = 0
  const upload = async () => {
    while (next < FILES - 1) {
      const number = next++
      expect((await alice.upload(`files/${number}`, `file ${number} `.repeat(200))).status).toBe(
        200,
      )
    }
  }
  await Promise.all([upload(), upload(), upload(), upload()])
  // The last file takes long enough to kill a command while it is copied.
  expect((await alice.upload('files/last', Buffer.alloc(32_000_000))).status).toBe(200)
})
afterAll(async () => {
  await t.stop()
  for (const each of places) await each.drop()
  rmSync(dir, { recursive: true, force: true })
})

const environment = ({ settings }: Place, more: Record<string, string> = {}) => ({
  SECRET_KEY: 's'.repeat(32),
  ...settings,
  ...more,
})

/** The arguments that an operator types after `npm run admin --`. */
const admin = (at: Place, args: string[], more: Record<string, string> = {}) =>
  runWarm({
    program: resolve('src/admin.ts'),
    args,
    stdin: '',
    cwd: at.settings.DATA_DIR ?? '',
    env: { ...COMPILED, PATH: process.env.PATH ?? '', ...environment(at, more) },
  })

/** Starts a command, and kills it when a folder has this many blobs. */
async function kill(at: Place, args: string[], folder: string, blobs: number): Promise<void> {
  const child: ChildProcess = launch('admin.ts', args, environment(at))
  const ended = once(child, 'exit')
  await until(() => existsSync(join(folder, 'blobs')) && blobsIn(folder).length >= blobs, 15_000, 1)
  child.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
}

const json = ({ out, err, code }: { out: string; err: string; code: number | null }) => {
  expect({ err, code }).toEqual({ err: '', code: 0 })
  return JSON.parse(out)
}

describe('npm run admin -- backup', () => {
  it('backs up a running service, and restore-backup restores it with the secret', async () => {
    const to = join(dir, 'plain')
    const made = json(await admin(source, ['backup', to, '--json']))
    expect(made.backup.blobs).toMatchObject({ count: FILES, copied: FILES, missing: 0, damaged: 0 })
    expect(statSync(to).mode & 0o777).toBe(0o700)
    expect(statSync(join(to, 'backups', made.backup.name, 'secret.key')).mode & 0o777).toBe(0o600)
    const shown = await admin(source, ['backup', to, '--list'])
    expect(shown.out).toContain(`${made.backup.name}  ${FILES} files`)

    const target = await place()
    const restored = await admin(target, ['restore-backup', to], { SECRET_KEY: '' })
    expect(restored).toMatchObject({ code: 0, err: '' })
    expect(restored.out).toContain(`${FILES} files were copied, 0 were there.`)
    expect(readFileSync(join(target.settings.DATA_DIR ?? '', 'secret.key'), 'utf8').trim()).toBe(
      's'.repeat(32),
    )
    expect((await runBuilt('doctor.ts', ['--grace', '0'], environment(target))).out).toBe(
      'All is well.\n',
    )

    const [again, other] = [
      await admin(target, ['restore-backup', to]),
      await admin(target, ['restore-backup', to, '--delete-existing', '--json'], {
        SECRET_KEY: 'o'.repeat(32),
      }),
    ]
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('--delete-existing')])
    expect(other.err).toContain('SECRET_KEY is not that of the backup')
    expect(JSON.parse(other.out)).toMatchObject({ copied: 0, there: FILES, lost: 0 })
  })

  it('continues after a kill, without a partial backup or a lasting hold on deletions', async () => {
    const to = join(dir, 'killed')
    await kill(source, ['backup', to], to, FILES - 1)
    expect(json(await admin(source, ['backup', to, '--list', '--json'])).backups).toEqual([])
    expect(await isHeld(t.app.db, Date.now())).toBe(true)
    expect(await isHeld(t.app.db, Date.now() + 5 * 60_000)).toBe(false)
    await t.app.db.run('UPDATE deletion_hold SET expires_at = 1')
    const { backup } = json(await admin(source, ['backup', to, '--json']))
    expect(backup.blobs.count).toBe(FILES)
    // Files on a list of 512 that was already stored are not copied again.
    expect(backup.blobs.copied).toBeLessThanOrEqual(FILES - 512)
    expect(readdirSync(join(to, 'backups'))).toEqual([backup.name])
    expect(json(await admin(source, ['backup', to, '--verify', '--json']))).toEqual({
      backups: 1,
      blobs: FILES,
      problems: 0,
    })
    await t.app.sweeper.run()
    expect(await t.app.db.rows('SELECT * FROM deletion_hold')).toEqual([])
  })

  it('keeps as many backups as --keep allows, with their files', async () => {
    const to = join(dir, 'keep')
    await alice.upload('files/later', 'later')
    await admin(source, ['backup', to])
    await alice.rest('DELETE', '/api/files/delete?file=files/later')
    await t.settle()
    const all = () => blobsIn(to).length
    const { removed } = json(await admin(source, ['backup', to, '--keep-days', '1', '--json']))
    expect([removed, all()]).toEqual([[], FILES + 1])
    const second = json(await admin(source, ['backup', to, '--keep', '1', '--json']))
    expect([second.removed.length, second.removed_blobs, all()]).toEqual([2, 1, FILES])
    expect(json(await admin(source, ['backup', to, '--verify', '--json']))).toMatchObject({
      backups: 1,
      problems: 0,
    })
  })

  it('finds and repairs a flipped byte', async () => {
    const to = join(dir, 'flipped')
    await admin(source, ['backup', to])
    const [path = ''] = blobsIn(to)
    flip(path)
    const damaged = await admin(source, ['backup', to, '--verify'])
    expect([damaged.code, damaged.err]).toEqual([
      1,
      expect.stringContaining('has changed in the backup'),
    ])
    const { backup } = json(await admin(source, ['backup', to, '--json']))
    expect(backup.blobs.copied).toBe(1)
    expect((await admin(source, ['backup', to, '--verify'])).code).toBe(0)

    flip(join(to, 'backups', backup.name, 'tables', 'entry.jsonl.gz'))
    expect(await admin(source, ['backup', to, '--verify'])).toMatchObject({ code: 1 })
    const target = await place()
    const refused = await admin(target, ['restore-backup', to])
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('has changed since it was written'),
    ])
    const [older = ''] = json(await admin(source, ['backup', to, '--list', '--json'])).backups.map(
      (b: { name: string }) => b.name,
    )
    expect(await admin(target, ['restore-backup', to, '--at', older])).toMatchObject({ code: 0 })
  })

  it('reports damaged and missing objects of the store, and backs up the rest', async () => {
    const bad = await place()
    const service = await bad.start()
    try {
      const bob = await service.signIn('bob')
      for (const name of ['whole', 'gone', 'damaged']) await bob.upload(name, randomFile(1000))
      const [, gone = '', damaged = ''] = blobsIn(bad.blobDir).sort()
      rmSync(gone)
      flip(damaged)
      const made = await admin(bad, ['backup', join(dir, 'bad')])
      expect([made.code, made.out]).toEqual([
        1,
        expect.stringContaining('1 files are missing and 1 damaged in the store.'),
      ])
    } finally {
      await service.stop()
    }
    const restored = await admin(await place(), ['restore-backup', join(dir, 'bad')])
    expect([restored.code, restored.out]).toEqual([
      1,
      expect.stringContaining('2 files were copied, 0 were there.'),
    ])
  })

  it('refuses folders that are not its own, and waits for another backup in the same folder', async () => {
    const refused = async (at: Place, args: string[], reason: string) => {
      const { code, err, out } = await admin(at, args)
      expect([code, out, err]).toEqual([1, '', expect.stringContaining(reason)])
    }
    await refused(
      source,
      ['backup', join(source.settings.DATA_DIR ?? '', 'backups')],
      'is in the folder of the data',
    )
    await refused(source, ['backup', source.blobDir], 'is in the folder of the data')
    mkdirSync(join(dir, 'photos'))
    writeFileSync(join(dir, 'photos', 'a.jpg'), 'a')
    await refused(source, ['backup', join(dir, 'photos')], 'has other files')
    await refused(source, ['backup', join(dir, 'nothing'), '--list'], 'There is no backup')
    await refused(
      source,
      ['restore-backup', join(dir, 'plain')],
      'Another program uses the database',
    )
    await refused(
      source,
      ['restore-backup', join(dir, 'plain'), '--at', 'never'],
      '"--at" is the name',
    )
    await refused(
      source,
      ['restore-backup', join(dir, 'plain'), '--at', '2020-01-01'],
      'no backup of this time',
    )
    const stranger = await place()
    await migrate(stranger.db)
    await stranger.start().then(service => service.stop())
    await refused(stranger, ['backup', join(dir, 'plain')], 'another installation')
    writeFileSync(join(dir, 'file'), '')
    expect((await admin(source, ['backup', join(dir, 'file')])).code).toBe(2)
    const both = await Promise.all([1, 2].map(() => admin(source, ['backup', join(dir, 'plain')])))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
  })
})

describe('A restore', () => {
  let backup: Awaited<ReturnType<typeof backUp>>
  beforeAll(async () => {
    backup = await backUp(t, join(dir, 'restored'))
  })

  it('continues after a kill, and blocks the service until it has finished', async () => {
    const { folder, name } = backup
    const target = await place()
    await kill(target, ['restore-backup', folder.dir], target.blobDir, FILES - 1)
    await expect(migrate(target.db)).rejects.toMatchObject({ code: 'UNFINISHED_RESTORE' })
    await target.fresh()
    const child = spawn(process.execPath, [resolve('src/main.ts')], {
      cwd: dir,
      env: { PATH: process.env.PATH ?? '', ...environment(target), PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', chunk => {
      said += chunk
    })
    expect(await once(child, 'exit')).toEqual([1, null])
    expect(said).toContain('restore-backup')
    const again = json(await admin(target, ['restore-backup', folder.dir, '--json']))
    expect(again).toMatchObject({ backup: name, lost: 0, deleted: 0 })
    expect(again.there).toBe(FILES - 1)
    expect(again.there + again.copied).toBe(FILES)
    expect((await runBuilt('doctor.ts', ['--grace', '0'], environment(target))).out).toBe(
      'All is well.\n',
    )
  })

  it('replaces a fresh installation whose secret and store are new', async () => {
    const { folder } = backup
    const target = await place()
    const own = { SECRET_KEY: '' }
    const secretPath = join(target.settings.DATA_DIR ?? '', 'secret.key')
    await (await target.start()).stop()
    writeFileSync(secretPath, `${'t'.repeat(43)}\n`)
    const before = readFileSync(join(target.blobDir, 'installation'), 'utf8')
    await target.fresh()
    const checked = await admin(target, ['restore-backup', folder.dir, '--check', '--json'], own)
    expect(json(checked).obstacles).toEqual([])
    expect(readFileSync(join(target.blobDir, 'installation'), 'utf8')).toBe(before)
    expect(readFileSync(secretPath, 'utf8')).toContain('ttt')
    const restored = await admin(target, ['restore-backup', folder.dir], own)
    expect([restored.code, restored.err]).toEqual([0, ''])
    expect(readFileSync(secretPath, 'utf8')).toContain('sss')
    expect(readFileSync(join(target.blobDir, 'installation'), 'utf8')).not.toBe(before)
    expect(await findingsOf(target)).toEqual([])
  })

  it('--check lists all obstacles together, and changes nothing', async () => {
    const { folder } = backup
    const target = await place()
    const own = { SECRET_KEY: '' }
    const secretPath = join(target.settings.DATA_DIR ?? '', 'secret.key')
    const service = await target.start()
    await (await service.signIn('bob')).upload('mine', 'bytes of bob')
    await service.stop()
    writeFileSync(secretPath, `${'t'.repeat(43)}\n`)
    await target.fresh()
    const checked = await admin(target, ['restore-backup', folder.dir, '--check', '--json'], own)
    expect([checked.code, JSON.parse(checked.out).obstacles]).toEqual([
      1,
      [
        expect.stringContaining('The database has data already'),
        expect.stringContaining('has another secret than the backup'),
        expect.stringContaining('has files of the database'),
      ],
    ])
    expect(blobsIn(target.blobDir)).toHaveLength(1)
    const refused = await admin(target, ['restore-backup', folder.dir], own)
    expect([refused.code, refused.err.match(/--delete-existing/g)?.length]).toEqual([1, 3])
    const forced = await admin(target, ['restore-backup', folder.dir, '--delete-existing'], own)
    expect([forced.code, forced.out]).toEqual([
      0,
      expect.stringContaining('1 files that it does not have were deleted'),
    ])
    expect(await findingsOf(target)).toEqual([])
  })

  it('--check creates nothing in an empty place', async () => {
    const { folder } = backup
    const target = await place()
    const checked = await admin(target, ['restore-backup', folder.dir, '--check'])
    expect([checked.code, checked.err]).toEqual([0, ''])
    expect(checked.out).toContain('can be restored')
    expect(existsSync(target.blobDir)).toBe(false)
  })

  it('deletes extra rows and objects only when told to', async () => {
    const { folder, name } = backup
    const target = await place()
    await restoreInto(target, folder, name)
    const service = await target.start()
    await (await service.signIn('alice')).upload('newer', 'newer than the backup')
    await service.stop()
    await expect(restoreInto(target, folder, name)).rejects.toThrow('--delete-existing')
    expect(await restoreInto(target, folder, name, { deleteExisting: true })).toMatchObject({
      copied: 0,
      there: FILES,
      deleted: 1,
    })
    expect(await findingsOf(target)).toEqual([])
    // With --verify, existing files are compared as well.
    flip(blobsIn(target.blobDir)[3] ?? '')
    const options = { deleteExisting: true, verify: true }
    expect(await restoreInto(target, folder, name, options)).toMatchObject({
      copied: 1,
      there: FILES - 1,
    })
  })

  it('restores a backup of the last development version, and refuses one of a later version', async () => {
    const { folder, name, manifest } = backup
    const path = folder.path(name, 'manifest.json')
    const development = ['0001-initial', '0019-tags', '0033-instance-stores']
    await writeManifest(path, {
      ...manifest,
      migrations: [
        ...development.map(step => ({ name: step, at: 1 })),
        ...manifest.migrations.slice(1),
      ],
    })
    const target = await place()
    await restoreInto(target, folder, name)
    const steps = await target.db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name')
    expect(steps).toEqual(manifest.migrations.map(step => ({ name: step.name })))
    expect(await findingsOf(target)).toEqual([])
    await writeManifest(path, {
      ...manifest,
      migrations: [...manifest.migrations, { name: '9999-future', at: 1 }],
    })
    await expect(restoreInto(await place(), folder, name)).rejects.toThrow('later version')
  })
})

function flip(path: string): void {
  const bytes = readFileSync(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
