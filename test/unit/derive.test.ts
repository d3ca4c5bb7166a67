import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import sharp from 'sharp'
import { usualProcesses } from '../../src/config/usual-processes.ts'
import { jobsOf } from '../../src/derive/child.ts'
import { createDerive, type Derive, DeriveUnavailable } from '../../src/derive/derive.ts'
import { createLog } from '../../src/runtime/log.ts'
import { until } from '../support/until.ts'

const lines: string[] = []
const log = createLog({ logLevel: 'debug' }, { write: line => void lines.push(line) })
const sides = { sides: [256, 1280] }

let dir: string
let derive: Derive
const { TMPDIR } = process.env
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satchel-derive-test-'))
  // Temporary files of other services are not counted.
  process.env.TMPDIR = dir
  derive = createDerive({ processes: 1, readable: [dir], log })
})
afterAll(async () => {
  await derive.stop()
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  await rm(dir, { recursive: true, force: true })
})

const temporary = async () =>
  (await readdir(dir)).filter(name => name.startsWith('satchel-derive-'))

async function fileWith(bytes: Uint8Array | string, name = `${Math.random()}`): Promise<string> {
  const path = join(dir, name)
  await writeFile(path, bytes)
  return path
}

const pictureOf = async (bytes: Uint8Array | string, bounds = {}) =>
  derive.run({
    kind: 'picture',
    source: { path: await fileWith(bytes) },
    mediaType: 'image/png',
    input: sides,
    bounds,
  })

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#3a7' } })

/** An image that takes minutes to render. */
const endless = `<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"><filter id="f">${'<feTurbulence baseFrequency="0.9" numOctaves="200"/><feGaussianBlur stdDeviation="400"/>'.repeat(20)}</filter><rect width="9000" height="9000" filter="url(#f)"/></svg>`

describe('The renderer process', () => {
  it('creates thumbnails and checksums, of files and of streams', async () => {
    const bytes = await plain(3000, 1500).jpeg().toBuffer()
    const path = await fileWith(bytes)
    const made = await derive.run({
      kind: 'picture',
      source: { path },
      mediaType: 'image/jpeg',
      input: sides,
    })
    if (!made.ok) throw new Error(made.reason)
    expect(made.value).toMatchObject({
      width: 3000,
      height: 1500,
      orientation: 1,
      placeholder: expect.any(String),
    })
    const shapes = await Promise.all(made.outputs.map(output => sharp(output).metadata()))
    expect(shapes.map(({ format, width, height }) => [format, width, height])).toEqual([
      ['webp', 1280, 640],
      ['webp', 256, 128],
    ])

    const open = async () => Readable.from([bytes])
    const source = { size: bytes.length, open }
    const [a, b] = await Promise.all([
      derive.run({ kind: 'digest', source, mediaType: 'image/jpeg' }),
      derive.run({ kind: 'digest', source: { path }, mediaType: 'image/jpeg' }),
    ])
    expect(a).toMatchObject({
      ok: true,
      value: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    expect(a).toEqual(b)
    // Nothing of the stream remains.
    const [folder = ''] = await temporary()
    expect(await readdir(join(dir, folder))).toEqual([])
  })

  it('deletes temporary copies of a killed service', async () => {
    const { pid = 0 } = spawnSync('true')
    for (const number of [pid, process.ppid]) {
      await mkdir(join(dir, `satchel-derive-${number}-left`))
      await writeFile(join(dir, `satchel-derive-${number}-left`, 'copy'), 'of a file')
    }
    const another = createDerive({ processes: 1, readable: [dir], log })
    await another.run({
      kind: 'digest',
      source: { path: await fileWith('x') },
      mediaType: 'text/plain',
    })
    expect(await temporary()).not.toContain(`satchel-derive-${pid}-left`)
    expect(await temporary()).toEqual(
      expect.arrayContaining([`satchel-derive-${process.ppid}-left`]),
    )
    expect(
      (await temporary()).filter(name => name.startsWith(`satchel-derive-${process.pid}-`)),
    ).toHaveLength(2)
    await another.stop()
  })

  it('writes no more than a source declares', async () => {
    const source = { size: 3, open: async () => Readable.from([Buffer.from('four')]) }
    await expect(derive.run({ kind: 'digest', source, mediaType: 'x/y' })).rejects.toThrow(
      DeriveUnavailable,
    )
  })

  it('rotates pictures upright, keeps transparency, and drops metadata', async () => {
    const exif = {
      IFD0: { Make: 'Acme', Model: 'Acme One\u0000\n', ImageDescription: 'secret words' },
      IFD2: {
        DateTimeOriginal: '2024:05:06 07:08:09',
        OffsetTimeOriginal: '+02:00',
        FNumber: '28/10',
      },
      IFD3: {
        GPSLatitude: '52/1 30/1 0/1',
        GPSLatitudeRef: 'N',
        GPSLongitude: '13/1 24/1 0/1',
        GPSLongitudeRef: 'W',
      },
    }
    const turned = await plain(40, 20)
      .withMetadata({ orientation: 6 })
      .withExifMerge(exif)
      .jpeg()
      .toBuffer()
    const made = await pictureOf(turned)
    if (!made.ok) throw new Error(made.reason)
    expect(made.value).toMatchObject({ width: 20, height: 40, orientation: 6 })
    const read = await derive.run({
      kind: 'metadata',
      source: { path: await fileWith(turned) },
      mediaType: 'image/jpeg',
    })
    expect(read.ok && read.value).toEqual({
      takenAt: Date.UTC(2024, 4, 6, 5, 8, 9),
      details: {
        camera: 'Acme One',
        aperture: 2.8,
        zoneMinutes: 120,
        place: { latitude: 52.5, longitude: -13.4 },
      },
    })
    const { exif: left, icc, xmp } = await sharp(made.outputs[0]).metadata()
    expect([left, icc, xmp]).toEqual([undefined, undefined, undefined])
    expect(Buffer.concat(made.outputs).includes('secret words')).toBe(false)

    const clear = await sharp({
      create: { width: 30, height: 30, channels: 4, background: '#0000' },
    })
      .png()
      .toBuffer()
    const through = await pictureOf(clear)
    if (!through.ok) throw new Error(through.reason)
    expect((await sharp(through.outputs[0]).stats()).isOpaque).toBe(false)
  })

  it.each([
    ['words', 'unsupported', 'not a picture'],
    [
      'a picture that is truncated in its header',
      'unreadable',
      plain(900, 900)
        .png()
        .toBuffer()
        .then(b => b.subarray(0, 20)),
    ],
    [
      'a picture with more pixels than allowed',
      'too-large',
      plain(11_000, 11_000).png().toBuffer(),
    ],
  ])('names the reason why it renders nothing for %s', async (_, reason, bytes) => {
    expect(await pictureOf(await bytes)).toEqual({ ok: false, reason })
  })

  it('leaves HEIC to another program', async () => {
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic')
    expect(await pictureOf(heic)).toMatchObject({ ok: true, value: { format: 'heif' } })
  })

  it.each([
    ['jpeg', (bytes: Buffer) => bytes.subarray(0, -2)],
    ['jpeg', (bytes: Buffer) => bytes.subarray(0, -bytes.length / 3)],
    ['jpeg', (bytes: Buffer) => Buffer.from(bytes).fill(0, Math.floor(bytes.length / 2))],
    ['png', (bytes: Buffer) => bytes.subarray(0, -bytes.length / 3)],
  ] as const)('renders the intact part of a damaged %s', async (format, damage) => {
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
    const whole = await sharp({
      create: { width: 300, height: 200, channels: 3, background: '#000', noise },
    })
      .toFormat(format)
      .toBuffer()
    const made = await pictureOf(damage(whole))
    expect(made).toMatchObject({ ok: true, value: { width: 300, height: 200 } })
    const [, small] = made.ok ? made.outputs : []
    const { channels } = await sharp(small)
      .extract({ left: 0, top: 0, width: 256, height: 40 })
      .stats()
    expect(channels[0]?.stdev).toBeGreaterThan(2)
  })

  it('renders baseline JPEG and scans of one bit with four times the pixels', async () => {
    const bounds = { pixels: 500_000 }
    const jpeg = await plain(4000, 450).jpeg().toBuffer()
    const progressive = await plain(4000, 450).jpeg({ progressive: true }).toBuffer()
    const photo = await plain(4000, 450).png().toBuffer()
    const scan = plain(4000, 450).toColourspace('b-w')
    const tiff = await scan.clone().tiff({ bitdepth: 1, compression: 'ccittfax4' }).toBuffer()
    const made = await Promise.all([jpeg, tiff].map(bytes => pictureOf(bytes, bounds)))
    expect(made.map(({ ok }) => ok)).toEqual([true, true])
    const refused = await Promise.all([progressive, photo].map(b => pictureOf(b, bounds)))
    expect(refused).toEqual(Array(2).fill({ ok: false, reason: 'too-large' }))
  })

  it.each([
    [
      'after a long comment',
      `<?xml version="1.0"?><!-- ${'licence '.repeat(2000)} -->`,
      '',
      'utf8',
    ],
    ['with a prefix', '<!DOCTYPE s:svg [ <!ENTITY e "x"> ]>', 's:', 'utf8'],
    ['in UTF-16', '\uFEFF<?xml version="1.0" encoding="UTF-16"?>', '', 'utf16le'],
  ] as const)('recognizes an SVG %s', async (_, head, prefix, encoding) => {
    const space = `xmlns${prefix ? ':s' : ''}="http://www.w3.org/2000/svg"`
    const drawing = `<${prefix}svg ${space} width="60" height="30"><${prefix}rect width="60" height="30" fill="red"/></${prefix}svg>`
    const made = await pictureOf(Buffer.from(head + drawing, encoding))
    expect(made).toMatchObject({ ok: true, value: { width: 60, height: 30 } })
    const [, small] = made.ok ? made.outputs : []
    const { dominant } = await sharp(small).stats()
    expect(dominant.r).toBeGreaterThan(200)
  })

  it('renders bitmaps and icons', async () => {
    const { data, info } = await plain(3, 2)
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const bitmap = (height: number) => {
      const head = Buffer.alloc(40)
      head.writeUInt32LE(40, 0)
      head.writeInt32LE(info.width, 4)
      head.writeInt32LE(height, 8)
      head.writeUInt16LE(1, 12)
      head.writeUInt16LE(32, 14)
      // Blue is the first channel.
      return Buffer.concat([head, Buffer.from(data).swap32().subarray(1), Buffer.alloc(9)])
    }
    const head = Buffer.alloc(14)
    head.write('BM')
    head.writeUInt32LE(54, 10)
    const entry = Buffer.alloc(22)
    entry.set([0, 0, 1, 0, 1, 0, 3, 2])
    entry.writeUInt32LE(bitmap(4).length, 14)
    entry.writeUInt32LE(22, 18)
    for (const bytes of [Buffer.concat([head, bitmap(2)]), Buffer.concat([entry, bitmap(4)])])
      expect(await pictureOf(bytes)).toMatchObject({ ok: true, value: { width: 3, height: 2 } })
    const icon = Buffer.concat([entry, await plain(3, 2).png().toBuffer()])
    expect(await pictureOf(icon)).toMatchObject({ ok: true, value: { width: 3, height: 2 } })
    head.writeUInt32LE(0x7fffffff, 2)
    const vast = Buffer.concat([head, bitmap(0x7fffffff)])
    expect(await pictureOf(vast)).toEqual({ ok: false, reason: 'too-large' })
  })

  it('is killed when it hangs, and replaced for the next job', async () => {
    const [first] = derive.pids()
    expect(await pictureOf(endless, { ms: 700 })).toEqual({ ok: false, reason: 'time' })
    expect(await pictureOf(await plain(9, 9).png().toBuffer())).toMatchObject({ ok: true })
    expect(derive.pids()).not.toContain(first)
    expect(lines.join('')).toContain('"reason":"time"')
  })

  it('fails only its own job when it is killed', async () => {
    const hanging = pictureOf(endless)
    const next = pictureOf(await plain(9, 9).png().toBuffer())
    await until(() => derive.pids().length === 1)
    await new Promise(resolve => setTimeout(resolve, 300))
    process.kill(derive.pids()[0] ?? 0, 'SIGKILL')
    expect(await hanging).toEqual({ ok: false, reason: 'crashed' })
    expect(await next).toMatchObject({ ok: true })
  })

  it('stays within its memory limit', async () => {
    // The decoder needs all pixels in memory: 400 MB.
    const side = Buffer.alloc(2)
    side.writeUInt16LE(9999)
    const begin = [
      Buffer.from('GIF89a'),
      side,
      side,
      Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    ]
    const frame = [
      Buffer.from([0x2c, 0, 0, 0, 0]),
      side,
      side,
      Buffer.from([0, 2, 2, 0x44, 1, 0, 0x3b]),
    ]
    const made = pictureOf(Buffer.concat([...begin, ...frame]))
    let most = 0
    const watch = setInterval(() => {
      for (const pid of derive.pids())
        try {
          most = Math.max(
            most,
            Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0),
          )
        } catch {}
    }, 10)
    const ended = await made
    clearInterval(watch)
    expect(ended).toMatchObject({ ok: false })
    expect(most).toBeLessThan(512 * 1024)
    expect(await pictureOf(await plain(9, 9).png().toBuffer())).toMatchObject({ ok: true })
  })

  it('loads no remote or local file that a picture references', async () => {
    let asked = 0
    const server = createServer(socket => {
      asked += 1
      socket.destroy()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const host = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    await fileWith(
      await sharp({ create: { width: 9, height: 9, channels: 3, background: '#f00' } })
        .png()
        .toBuffer(),
      'other.png',
    )
    const svg = `<?xml version="1.0"?><?xml-stylesheet href="${host}/a.css"?><!DOCTYPE svg [<!ENTITY x SYSTEM "${host}/x">]>
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="50" height="50">
      <script href="${host}/s.js">fetch('${host}')</script><style>@import url(${host}/b.css);</style>
      <image href="${host}/i.png" width="50" height="50"/><image xlink:href="other.png" width="50" height="50"/>
      <image href="file://${dir}/other.png" width="50" height="50"/><use href="${host}/u.svg#a"/>&x;</svg>`
    const made = await pictureOf(svg)
    server.close()
    expect(asked).toBe(0)
    if (!made.ok) return
    // Without red, the image beside it was not drawn.
    expect((await sharp(made.outputs[0]).stats()).channels[0]?.max).toBe(0)
  })

  it.each([
    'null',
    '7',
    '{"ok":true}',
    '{"ok":true,"outputs":[null]}',
    '{"ok":true,"outputs":"long"}',
    '{"ok":false,"reason":"whatever"}',
    '{"ok":false,"unable":{}}',
  ])('is killed when it responds %s, and nothing else fails', async said => {
    const program =
      'const b = Buffer.from(process.argv[1]); const l = Buffer.alloc(4); l.writeUInt32LE(b.length); fs.writeSync(3, Buffer.concat([l, b])); setInterval(() => {}, 1000)'
    const child = spawn(process.execPath, ['-e', program, said], {
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise(resolve => child.on('exit', (_, signal) => resolve(signal)))
    expect(await jobsOf(child).begin(20_000, 0)).toEqual({ ok: false, reason: 'crashed' })
    expect(await ended).toBe('SIGKILL')
  })

  it.each([
    [8, 64, 7],
    [8, 4, 4],
    [8, 0.25, 1],
    [1, 64, 1],
  ])(
    'has as many siblings as memory allows: %i processors, %d GiB',
    (processors, gigabytes, processes) => {
      expect(usualProcesses(processors, gigabytes * 2 ** 30)).toBe(processes)
    },
  )

  it('exits when it is idle, and with the service', async () => {
    const brief = createDerive({ processes: 2, readable: [dir], log, idleMs: 50 })
    const path = await fileWith('x')
    await brief.run({ kind: 'digest', source: { path }, mediaType: 'x/y' })
    await until(() => brief.pids().length === 0)
    await brief.run({ kind: 'digest', source: { path }, mediaType: 'x/y' })
    const waiting = brief.run({
      kind: 'picture',
      source: { path: await fileWith(endless) },
      mediaType: 'x/y',
      input: sides,
    })
    await until(() => brief.pids().length > 0)
    const stopped = expect(waiting).rejects.toThrow(DeriveUnavailable)
    await brief.stop()
    await stopped
    await expect(brief.run({ kind: 'digest', source: { path }, mediaType: 'x/y' })).rejects.toThrow(
      DeriveUnavailable,
    )
  })

  it('may read only its inputs', async () => {
    const outside = await mkdtemp(`${dir}-outside-`)
    await writeFile(join(outside, 'secret'), 'secret')
    const source = { path: join(outside, 'secret') }
    await expect(derive.run({ kind: 'digest', source, mediaType: 'x/y' })).rejects.toThrow(
      DeriveUnavailable,
    )
    await rm(outside, { recursive: true })
  })
})
