import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { type Derive, DeriveUnavailable } from '../../src/derive/derive.ts'
import { examine } from '../../src/doctor/run.ts'
import { createLog } from '../../src/runtime/log.ts'
import { Paused } from '../../src/services/job.ts'
import { type PreviewedFile, previewService } from '../../src/services/tree/preview.ts'
import { expel, found, join, privateKey, put, workspaceKey } from '../support/builders.ts'
import { pdf } from '../support/documents.ts'
import { FFMPEG, testVideo } from '../support/ffmpeg.ts'
import { type Person, startApp, type TestApp } from '../support/harness.ts'
import { until } from '../support/until.ts'

let t: TestApp
let alice: Person
let bob: Person
beforeAll(async () => {
  t = await startApp({
    PREVIEWS: 'true',
    DERIVE_PROCESSES: '1',
    FFMPEG,
    TRASH_DAYS: '0',
    VERSIONS_KEPT: '0',
  })
  ;[alice, bob] = await Promise.all([t.signIn('alice'), t.signIn('bob')])
})
afterAll(() => t.stop())

let colours = 0
/**
 * A picture with its own content. Its colours must differ enough, because JPEG merges similar ones.
 */
const photo = (width = 60, height = 40) => {
  colours += 1
  return sharp({
    create: { width, height, channels: 3, background: { r: (colours * 10) % 256, g: 20, b: 90 } },
  })
    .withExifMerge({
      IFD0: { Make: 'Acme', Model: 'One' },
      IFD2: { DateTimeOriginal: '2024:05:06 07:08:09' },
    })
    .jpeg()
    .toBuffer()
}

interface Shown {
  id: string
  preview: {
    state: string
    url: string | null
    large: string | null
    placeholder: string | null
    width: number | null
    height: number | null
    takenAt: string | null
  } | null
}

const shown = 'id preview { state url large: url(size: LARGE) placeholder width height takenAt }'

async function look(person: Person, path: string): Promise<Shown> {
  const query = `query ($path: String!) { me { drive { entry(path: $path) { ... on File { ${shown} } } } } }`
  const { data, errors } = await person.graphql<{ me: { drive: { entry: Shown } } }>(query, {
    path,
  })
  if (!data) throw new Error(JSON.stringify(errors))
  return data.me.drive.entry
}

async function looked(
  person: Person,
  path: string,
): Promise<NonNullable<Shown['preview']> & { id: string }> {
  const { id, preview } = await look(person, path)
  return until(async () => {
    await t.settle()
    const found = (await look(person, path)).preview ?? preview
    return found && found.state !== 'WAITING' && { ...found, id }
  })
}

async function upload(
  person: Person,
  path: string,
  bytes: Uint8Array,
  type = 'image/jpeg',
): Promise<void> {
  const answer = await person.upload(path, bytes, type)
  if (answer.status !== 200) throw new Error(answer.text)
}

async function remove(person: Person, path: string): Promise<void> {
  const answer = await person.rest('DELETE', `/api/files/delete?file=${encodeURIComponent(path)}`)
  if (answer.status !== 200) throw new Error(answer.text)
}

const get = (url: string | null, person?: Person, headers: Record<string, string> = {}) =>
  fetch(url ?? '', { headers: { ...(person ? { cookie: person.cookie } : {}), ...headers } })

/** The objects in the store, and the preview rows. */
async function stock(): Promise<{ objects: number; previews: number }> {
  let objects = 0
  for await (const _ of t.app.store.list()) objects += 1
  return { objects, previews: await t.app.db.Preview.count() }
}

async function findings(): Promise<string[]> {
  const found: string[] = []
  const { db, store } = t.app
  const onFinding = ({ kind, message }: { kind: string; message: string }) =>
    void found.push(`${kind}: ${message}`)
  await examine({ db, store, graceMs: 0 }, { repair: false, onFinding })
  return found
}

describe('The preview of a picture', () => {
  it('is rendered after its upload, and includes the metadata of the original', async () => {
    await upload(alice, 'a.jpg', await photo(3000, 1500))
    const preview = await looked(alice, 'a.jpg')
    expect(preview).toMatchObject({
      state: 'MADE',
      width: 3000,
      height: 1500,
      takenAt: '2024-05-06T07:08:09.000Z',
    })
    expect(preview.placeholder).toMatch(/^[\w+/=]{20,}$/)
    const [small, large] = await Promise.all([get(preview.url, alice), get(preview.large, alice)])
    expect(small.headers.get('content-type')).toBe('image/webp')
    expect(small.headers.get('cache-control')).toBe('private, max-age=86400, immutable')
    const shapes = await Promise.all(
      [small, large].map(async answer => sharp(await answer.arrayBuffer()).metadata()),
    )
    expect(shapes.map(({ width, height, exif }) => [width, height, exif])).toEqual([
      [256, 128, undefined],
      [1280, 640, undefined],
    ])
    const again = await get(preview.url, alice, {
      'if-none-match': small.headers.get('etag') ?? '',
    })
    expect(again.status).toBe(304)
    // Content that is cached for an address must never change.
    for (const version of ['', '&version=0123456789abcdef']) {
      const other = await alice.rest('GET', `/api/files/preview?file_id=${preview.id}${version}`)
      expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    }
    // The address stays the same, so that browsers can use their cache.
    expect((await look(alice, 'a.jpg')).preview?.url).toBe(preview.url)
  })

  it('includes camera, exposure and location for readers of the file, and omits unreadable values', async () => {
    const bytes = await sharp({
      create: { width: 50, height: 30, channels: 3, background: '#735' },
    })
      .withExifMerge({
        IFD0: { Make: 'Acme', Model: 'Two' },
        IFD2: {
          DateTimeOriginal: '2023:01:02 03:04:05',
          OffsetTimeOriginal: '+09:00',
          LensModel: 'Acme 35mm',
          ExposureTime: '1/250',
          FNumber: '28/10',
          ISOSpeedRatings: '400',
          FocalLength: '35/1',
        },
        IFD3: {
          GPSLatitude: '35/1 30/1 0/1',
          GPSLatitudeRef: 'S',
          GPSLongitude: '139/1 45/1 0/1',
          GPSLongitudeRef: 'E',
        },
      })
      .jpeg()
      .toBuffer()
    await upload(alice, 'told.jpg', bytes)
    await looked(alice, 'told.jpg')
    const fields =
      'photo { camera lens exposureSeconds aperture iso focalLength zoneMinutes place { latitude longitude } } takenAt'
    const asked = `{ me { drive { entry(path: "told.jpg") { ... on File { preview { ${fields} } } } } } }`
    const told = async () => (await alice.graphql<never>(asked)).data
    const photo = {
      camera: 'Acme Two',
      lens: 'Acme 35mm',
      exposureSeconds: 1 / 250,
      aperture: 2.8,
      iso: 400,
      focalLength: 35,
      zoneMinutes: 540,
      place: { latitude: -35.5, longitude: 139.75 },
    }
    const takenAt = '2023-01-01T18:04:05.000Z'
    expect(await told()).toEqual({ me: { drive: { entry: { preview: { takenAt, photo } } } } })
    // A process that has read a hostile file may have written anything.
    const details = JSON.stringify({
      camera: 5,
      iso: -1,
      place: { latitude: 1e9, longitude: 0 },
      aperture: 4,
    })
    await t.app.db.Preview.update({ details }, { where: { takenAt: Date.parse(takenAt) } })
    const none = Object.fromEntries(Object.keys(photo).map(name => [name, null]))
    expect(await told()).toEqual({
      me: { drive: { entry: { preview: { takenAt, photo: { ...none, aperture: 4 } } } } },
    })
    await remove(alice, 'told.jpg')
    await t.settle()
    await t.settle()
  })

  it('is rendered once for identical content, shared by copies, and deleted with the last file', async () => {
    const before = await stock()
    const bytes = await photo()
    await upload(alice, 'one.jpg', bytes)
    await looked(alice, 'one.jpg')
    await upload(bob, 'two.jpg', bytes)
    const { placeholder } = await looked(bob, 'two.jpg')
    expect(placeholder).toBe((await look(alice, 'one.jpg')).preview?.placeholder)
    expect(await stock()).toEqual({ objects: before.objects + 3, previews: before.previews + 1 })
    await alice.rest('POST', '/api/copies', { json: { entries: ['one.jpg'], folder: 'copies' } })
    await remove(alice, 'one.jpg')
    await remove(bob, 'two.jpg')
    await t.settle()
    expect((await look(alice, 'copies/one.jpg')).preview?.state).toBe('MADE')
    expect(await findings()).toEqual([])
    await remove(alice, 'copies/one.jpg')
    await t.settle()
    await t.settle()
    expect(await stock()).toEqual(before)
    expect(await findings()).toEqual([])
  })

  it('shows the first page of a PDF document', async () => {
    const pages = ['1 0 0 rg 0 0 612 396 re f', '0 0 1 rg 0 0 612 792 re f']
    await upload(alice, 'report.pdf', pdf(pages), 'application/pdf')
    const preview = await looked(alice, 'report.pdf')
    expect(preview).toMatchObject({ state: 'MADE', width: 612, height: 792, takenAt: null })
    const picture = sharp(await (await get(preview.large, alice)).arrayBuffer())
    expect(await picture.metadata()).toMatchObject({
      format: 'webp',
      width: 989,
      height: 1280,
      hasAlpha: false,
    })
    const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true })
    const at = (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3),
    ]
    // White above and red below, and nothing of the second page.
    expect(at(400, 200).every(part => part > 250)).toBe(true)
    const [red = 0, , blue = 255] = at(400, 1100)
    expect([red > 240, blue < 20]).toEqual([true, true])
    expect(await findings()).toEqual([])
  })

  const withFfmpeg = FFMPEG === 'false' ? it.skip : it
  withFfmpeg('is that of a key frame of a video', async () => {
    await upload(alice, 'film.mp4', await testVideo('mp4', '1920x1080'), 'video/mp4')
    const preview = await looked(alice, 'film.mp4')
    expect(preview).toMatchObject({ state: 'MADE', width: 1920, height: 1080 })
    const large = await sharp(await (await get(preview.large, alice)).arrayBuffer()).metadata()
    expect(large).toMatchObject({ format: 'webp', width: 1280, height: 720 })
    expect(await findings()).toEqual([])
  })

  withFfmpeg('has the shape in which a video is displayed', async () => {
    const wide = await testVideo('mp4', '720x576', ['-vf', 'setsar=64/45'])
    await upload(alice, 'wide.mp4', wide, 'video/mp4')
    const preview = await looked(alice, 'wide.mp4')
    expect(preview).toMatchObject({ state: 'MADE', width: 1024, height: 576 })
    const large = await sharp(await (await get(preview.large, alice)).arrayBuffer()).metadata()
    expect(large).toMatchObject({ width: 1024, height: 576 })
  })

  withFfmpeg.each([
    ['m2ts', 'mpegts', []],
    ['mpg', 'mpeg', ['-r', '25']],
    ['wmv', 'asf', []],
    ['flv', 'flv', []],
  ] as const)('is rendered for .%s videos', async (ending, _, options) => {
    await upload(
      alice,
      `film.${ending}`,
      await testVideo(ending, '320x240', [...options]),
      'video/x',
    )
    expect(await looked(alice, `film.${ending}`)).toMatchObject({ state: 'MADE', width: 320 })
  })

  it.each([
    ['wrong.jpg', 'image/jpg'],
    ['octets.jpg', 'binary/octet-stream'],
    ['renamed.heic', 'image/heic'],
    ['plain.jfif', 'image/pjpeg'],
    ['no-ending', 'text/plain'],
  ])('is rendered for a JPEG named %s that is declared as %s', async (name, type) => {
    await upload(alice, name, await photo(), type)
    expect(await looked(alice, name)).toMatchObject({ state: 'MADE', width: 60, height: 40 })
    const [file] = await t.app.db.rows('SELECT file_type AS type FROM entry WHERE name = ?', [name])
    expect(file).toEqual({ type: 'image/jpeg' })
  })

  it('is rendered for files with a wrong stored type once the doctor has corrected it', async () => {
    await upload(alice, 'found.ts', await photo(), 'image/jpeg')
    await upload(alice, 'code.ts', Buffer.from('export const a = 1\n'), 'video/mp2t')
    const { db } = t.app
    const types = async () =>
      await db.rows(
        "SELECT name, file_type AS type, pictured_at IS NULL AS hidden FROM entry WHERE name IN ('found.ts', 'code.ts') ORDER BY name",
      )
    const right = await types()
    expect(right).toMatchObject([
      { name: 'code.ts', type: 'text/typescript' },
      { name: 'found.ts', type: 'image/jpeg' },
    ])
    await db.run(
      "UPDATE entry SET file_type = 'video/mp2t', pictured_at = COALESCE(modified_at, created_at) WHERE name = 'code.ts'",
    )
    await db.run(
      "UPDATE entry SET file_type = 'binary/octet-stream', pictured_at = NULL WHERE name = 'found.ts'",
    )
    const { store } = t.app
    const found: string[] = []
    const onFinding = ({ kind }: { kind: string }) => void found.push(kind)
    await examine({ db, store, graceMs: 0 }, { repair: true, onFinding })
    expect(found.filter(kind => kind === 'media-type-wrong')).toHaveLength(2)
    expect(await types()).toEqual(right)
    expect(await looked(alice, 'found.ts')).toMatchObject({ state: 'MADE' })
  })

  it('is rendered even if its metadata cannot be read', async () => {
    const { derive } = t.app
    const run: Derive['run'] = derive.run
    Object.assign(derive, {
      run: (job: Parameters<Derive['run']>[0]) =>
        job.kind === 'metadata' ? Promise.resolve({ ok: false, reason: 'crashed' }) : run(job),
    })
    try {
      await upload(alice, 'unread.jpg', await photo())
      expect(await looked(alice, 'unread.jpg')).toMatchObject({ state: 'MADE', takenAt: null })
    } finally {
      Object.assign(derive, { run })
    }
  })

  it('is read again after an upgrade, which corrects its time', async () => {
    await upload(alice, 'earlier.jpg', await photo())
    const { id } = await looked(alice, 'earlier.jpg')
    const { db } = t.app
    const sql = 'SELECT blob_id AS blobId, pictured_at AS at FROM entry WHERE id = ?'
    const [file] = await db.rows<{ blobId: string; at: number }>(sql, [id])
    const digest = 'SELECT sha256 FROM blobs WHERE id = ?'
    // The time that an earlier version would have stored: in November 1899.
    await db.run(
      `UPDATE preview SET taken_at = -2211753600000, reader = 0 WHERE digest = (${digest})`,
      [file?.blobId ?? ''],
    )
    await db.run('UPDATE entry SET pictured_at = -2211753600000 WHERE id = ?', [id])
    const [found] = await db.rows<PreviewedFile>(
      'SELECT blob_id AS blobId, file_type AS fileType, total_bytes AS size FROM entry WHERE id = ?',
      [id],
    )
    if (!found) throw new Error('The file is gone.')
    await elsewhere().ofFiles([found])
    await until(async () => {
      await t.settle()
      return (await look(alice, 'earlier.jpg')).preview?.takenAt === '2024-05-06T07:08:09.000Z'
    })
    expect((await db.rows(sql, [id]))[0]).toEqual(file)
  })

  it('does not count towards any quota', async () => {
    const usage = async () =>
      (await alice.graphql('{ me { drive { usage { usedBytes fileCount } } } }')).data
    await upload(alice, 'counted.jpg', await photo())
    const before = await usage()
    await looked(alice, 'counted.jpg')
    expect(await usage()).toEqual(before)
  })

  it('is absent for other kinds of files, and failed if the content does not match its type', async () => {
    await upload(alice, 'words.txt', Buffer.from('words'), 'text/plain')
    expect((await look(alice, 'words.txt')).preview).toBeNull()
    await upload(alice, 'broken.png', Buffer.from('no picture'), 'image/png')
    const { id, ...broken } = await looked(alice, 'broken.png')
    expect(broken).toMatchObject({ state: 'FAILED', url: null, placeholder: null })
    const answer = await alice.rest('GET', `/api/files/preview?file_id=${id}`)
    expect([answer.status, answer.response.code]).toEqual([404, 'FILE_NOT_FOUND'])
  })

  it('is rendered at the first listing of existing files', async () => {
    await upload(alice, 'old.jpg', await photo())
    await looked(alice, 'old.jpg')
    // As with files of an earlier version, and after a restore.
    const { db } = t.app
    const [row] = await db.rows<{ sha256: string; blobId: string }>(
      'SELECT b.sha256, p.blob_id AS blobId FROM entry e JOIN blobs b ON b.id = e.blob_id JOIN preview p ON p.digest = b.sha256 WHERE e.name = ?',
      ['old.jpg'],
    )
    await db.transaction(async tx => {
      await db.run('DELETE FROM preview WHERE digest = ?', [row?.sha256 ?? ''], tx)
      await db.run("UPDATE blobs SET state = 'deleting' WHERE id = ?", [row?.blobId ?? ''], tx)
      await db.run('UPDATE blobs SET sha256 = NULL WHERE sha256 = ?', [row?.sha256 ?? ''], tx)
    })
    const later = elsewhere()
    const { id } = await look(alice, 'old.jpg')
    const [file] = await db.rows<PreviewedFile>(
      'SELECT blob_id AS blobId, file_type AS fileType, total_bytes AS size FROM entry WHERE id = ?',
      [id],
    )
    if (!file) throw new Error('The file is gone.')
    expect((await later.ofFiles([file])).get(file.blobId)).toMatchObject({
      state: 'waiting',
      version: null,
    })
    expect(await looked(alice, 'old.jpg')).toMatchObject({ state: 'MADE', width: 60, height: 40 })
    expect(await findings()).toEqual([])
  })
})

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A claim that a killed process has left. */
const claimed = (digest: string, leaseUntil: number) =>
  t.app.db.Preview.create({ digest, state: 'making', leaseUntil, createdAt: Date.now() })

describe('A preview with a claim of a killed process', () => {
  it('is rendered once the claim expires, even if the job found it claimed', async () => {
    const bytes = await photo()
    const leaseUntil = Date.now() + 1500
    await claimed(sha256(bytes), leaseUntil)
    await upload(alice, 'claimed.jpg', bytes)
    await t.app.worker.idle()
    // Other preview jobs, which found their contents claimed, may be waiting since earlier tests.
    const waits =
      "SELECT o.due_at AS dueAt FROM outbox o JOIN entry e ON o.payload LIKE CONCAT('%', e.blob_id, '%') WHERE o.kind = ? AND e.name = ?"
    expect(await t.app.db.rows(waits, ['preview', 'claimed.jpg'])).toEqual([
      { dueAt: leaseUntil + 1 },
    ])
    expect(await looked(alice, 'claimed.jpg')).toMatchObject({ state: 'MADE' })
  })

  it('is requested by the next listing if its job is gone', async () => {
    const { digest } = await unpictured('left.jpg')
    await claimed(digest, 1)
    expect(await looked(alice, 'left.jpg')).toMatchObject({ state: 'MADE' })
  })
})

it('A failed preview is tried again by the same process once the failure is a week old', async () => {
  const { digest } = await unpictured('failed.jpg')
  const failure = { digest, state: 'failed', reason: 'TIMEOUT', leaseUntil: 0, reader: 1 } as const
  const weekAgo = Date.now() - 7 * 86_400_000
  await t.app.db.Preview.create({ ...failure, createdAt: weekAgo + 60_000 })
  expect((await look(alice, 'failed.jpg')).preview).toMatchObject({ state: 'FAILED' })
  await t.app.db.Preview.update({ createdAt: weekAgo - 1 }, { where: { digest } })
  expect(await looked(alice, 'failed.jpg')).toMatchObject({ state: 'MADE' })
})

it('The doctor does not report the content of a preview as missing before its blob is swept', async () => {
  const bytes = await photo()
  await upload(alice, 'swept.jpg', bytes)
  await looked(alice, 'swept.jpg')
  await remove(alice, 'swept.jpg')
  await t.app.worker.idle()
  const blob = await t.app.db.row('SELECT state FROM blobs WHERE sha256 = ?', [sha256(bytes)])
  expect(blob).toEqual({ state: 'deleting' })
  expect((await findings()).filter(finding => finding.startsWith('preview'))).toEqual([])
})

/** Uploads a picture and removes its preview, as with files of an earlier version. */
async function unpictured(path: string): Promise<{ file: PreviewedFile; digest: string }> {
  const bytes = await photo()
  const digest = sha256(bytes)
  await upload(alice, path, bytes)
  const { id } = await looked(alice, path)
  const { db } = t.app
  const made = await db.row<{ blobId: string }>(
    'SELECT blob_id AS blobId FROM preview WHERE digest = ?',
    [digest],
  )
  await db.transaction(async tx => {
    await db.run('DELETE FROM preview WHERE digest = ?', [digest], tx)
    await db.run("UPDATE blobs SET state = 'deleting' WHERE id = ?", [made?.blobId ?? ''], tx)
  })
  const fields = 'blob_id AS blobId, file_type AS fileType, total_bytes AS size'
  const file = await db.row<PreviewedFile>(`SELECT ${fields} FROM entry WHERE id = ?`, [id])
  if (!file) throw new Error('The file is gone.')
  return { file, digest }
}

/** The preview service of another instance. */
const elsewhere = (derive: Derive = t.app.derive, leaseSeconds = 60) =>
  previewService({
    db: t.app.db,
    store: t.app.store,
    log: createLog({ logLevel: 'silent' }),
    wake: () => t.app.worker.wake(),
    publicUrl: () => t.url,
    blobs: t.app.services.blobs,
    maintenance: t.app.services.maintenance,
    derive,
    previews: true,
    previewMaxBytes: 1e9,
    leaseSeconds,
    pubSub: t.app.pubSub,
  })

const rowOf = (digest: string) =>
  t.app.db.row<{ state: string; reason: string | null }>(
    'SELECT state, reason FROM preview WHERE digest = ?',
    [digest],
  )

it('A preview that timed out is retried, until its third try fails', async () => {
  const { file, digest } = await unpictured('slow.jpg')
  const { derive } = t.app
  const run: Derive['run'] = job =>
    derive.run(job.kind === 'picture' ? { ...job, bounds: { ms: 0 } } : job)
  const hasty = elsewhere({ ...derive, run })
  for (const attempts of [1, 2]) {
    await expect(hasty.make(file, { attempts, requireRunning() {} })).rejects.toThrow(
      DeriveUnavailable,
    )
    expect(await rowOf(digest)).toBeUndefined()
  }
  await hasty.make(file, { attempts: 3, requireRunning() {} })
  expect(await rowOf(digest)).toEqual({ state: 'failed', reason: 'time' })
})

it('A preview that outlasts its claim is rendered by one instance only', async () => {
  const { file, digest } = await unpictured('long.jpg')
  const { derive } = t.app
  let begun = 0
  let finish = () => {}
  const finished = new Promise<void>(resolve => {
    finish = resolve
  })
  const run: Derive['run'] = async job => {
    if (job.kind === 'picture') {
      begun += 1
      await finished
    }
    return derive.run(job)
  }
  const [first, second] = [elsewhere({ ...derive, run }, 1), elsewhere({ ...derive, run }, 1)]
  const job = { attempts: 1, requireRunning() {} }
  const making = first.make(file, job)
  const leaseOf = async () =>
    (
      await t.app.db.row<{ leaseUntil: number }>(
        'SELECT lease_until AS leaseUntil FROM preview WHERE digest = ?',
        [digest],
      )
    )?.leaseUntil ?? 0
  await until(() => begun === 1)
  const claimedUntil = await leaseOf()
  // Its first claim has expired, and was renewed.
  await until(async () => Date.now() > claimedUntil && (await leaseOf()) > claimedUntil)
  await second.make(file, job)
  expect(begun).toBe(1)
  finish()
  await making
  expect(await rowOf(digest)).toEqual({ state: 'made', reason: null })
})

it('An instance that lost the claim on a preview discards its result', async () => {
  const { file, digest } = await unpictured('lost.jpg')
  const { derive } = t.app
  await t.settle()
  const before = await stock()
  const run: Derive['run'] = async job => {
    const outcome = await derive.run(job)
    // Another instance has claimed it, as after a long pause of this instance.
    if (job.kind === 'picture')
      await t.app.db.run('UPDATE preview SET lease_until = ? WHERE digest = ?', [1, digest])
    return outcome
  }
  await elsewhere({ ...derive, run }).make(file, { attempts: 1, requireRunning() {} })
  expect(await rowOf(digest)).toEqual({ state: 'making', reason: null })
  await t.settle()
  expect(await stock()).toEqual({ ...before, previews: before.previews + 1 })
  expect(await looked(alice, 'lost.jpg')).toMatchObject({ state: 'MADE' })
})

it('During a maintenance, no preview is requested or rendered', async () => {
  const { file, digest } = await unpictured('paused.jpg')
  const { maintenance } = t.app.services
  // A job of another test may be waiting for its next try.
  const jobs = () => t.app.db.Job.count({ where: { kind: 'preview' } })
  const before = await jobs()
  await maintenance.start({ endsAt: Date.now() + 60_000 }, null)
  const other = elsewhere()
  const waiting = { state: 'waiting', version: null }
  expect((await other.ofFiles([file])).get(file.blobId)).toMatchObject(waiting)
  const requireRunning = () => {
    throw new Paused('A maintenance has begun.')
  }
  await expect(other.make(file, { attempts: 1, requireRunning })).rejects.toThrow(Paused)
  const after = [await rowOf(digest), await jobs()]
  await maintenance.end(null)
  expect(after).toEqual([undefined, before])
  expect((await other.ofFiles([file])).get(file.blobId)).toMatchObject(waiting)
  expect(await looked(alice, 'paused.jpg')).toMatchObject({ state: 'MADE' })
})

describe('GET /api/files/preview', () => {
  it('shows a preview to readers of the file, and stops with the next request after their access ends', async () => {
    await upload(alice, 'mine.jpg', await photo())
    const { url, id } = await looked(alice, 'mine.jpg')
    const path = url?.slice(t.url.length) ?? ''
    const statusFor = async (person: Person) => (await person.rest('GET', path)).status
    expect(await statusFor(alice)).toBe(200)
    expect(await statusFor((await privateKey(t, alice)).caller)).toBe(200)
    expect(await statusFor((await privateKey(t, alice, ['private_files:write'])).caller)).toBe(401)
    expect(await statusFor(bob)).toBe(404)
    expect(await statusFor(t.anonymous)).toBe(401)
    expect((await alice.rest('GET', `/api/files/preview?file_id=${id}&size=huge`)).status).toBe(400)
    await remove(alice, 'mine.jpg')
    expect(await statusFor(alice)).toBe(404)
  })

  it('works in workspaces, until a member is removed', async () => {
    const workspace_id = await found(alice)
    await put(alice, workspace_id, 'ours.jpg', await photo(), 'image/jpeg')
    const query = `{ workspace(id: "${workspace_id}") { drive { entry(path: "ours.jpg") { ... on File { ${shown} } } } } }`
    const ask = async () =>
      (await alice.graphql<{ workspace: { drive: { entry: Shown } } }>(query)).data?.workspace.drive
        .entry.preview
    const { url } = await until(async () => {
      await t.settle()
      const preview = await ask()
      return preview?.state === 'MADE' && preview
    })
    expect(url).toContain(`/api/workspaces/${workspace_id}/files/preview?`)
    expect((await get(url, alice)).status).toBe(200)
    await join(t, workspace_id, bob, 'viewer')
    const path = url?.slice(t.url.length) ?? ''
    const statusFor = async (person: Person, more = '') =>
      (await person.rest('GET', path + more)).status
    expect(await statusFor(bob)).toBe(200)
    expect(await statusFor((await workspaceKey(t, alice, workspace_id)).caller)).toBe(200)
    await expel(t, workspace_id, bob)
    expect(await statusFor(bob)).toBe(403)
    expect(await statusFor(t.anonymous)).toBe(401)
    expect((await alice.rest('GET', path.replace('size=small', 'size=huge'))).status).toBe(400)
    const missing = await alice.rest(
      'GET',
      `/api/workspaces/${workspace_id}/files/preview?file_id=0199a1f4-5b62-7c3e-8d0a-4f6b2e9c1d73`,
    )
    expect(missing.status).toBe(404)
  })
})

it('A page of files costs one more statement with previews, and none without pictures', async () => {
  const counts = async (fields: string) => {
    t.statements()
    await alice.graphql(
      `{ me { drive { root { entries(first: 100) { nodes { id ... on File { ${fields} } } } } } } }`,
    )
    return t.statements().length
  }
  await counts('name')
  const plain = await counts('name')
  expect((await counts(`name ${shown}`)) - plain).toBe(1)
})
