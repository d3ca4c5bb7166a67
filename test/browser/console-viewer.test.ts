import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { strToU8, zipSync } from 'fflate'
import type { Locator, Page } from 'playwright-core'
import sharp from 'sharp'
import { eventually } from '../support/until.ts'
import {
  type ConsoleWorld,
  expectAccessible,
  expectQuiet,
  type Person,
  pictures,
  rowOf,
  startConsole,
  telephone,
} from './console.ts'
import { makeArchive, makeMedia } from './media.ts'
import { until } from './share-world.ts'

const readme = `# Notes

| who | what |
| --- | --- |
| alice | **owns** |

- [x] done

<script>document.title = 'taken over'</script>
<img src="https://elsewhere.example/pixel.png">

![a picture](https://elsewhere.example/pixel.png)
[run](javascript:alert(1)) [read](https://elsewhere.example/)
`
const source = 'export const answer: number = 42 // <b>not bold</b>\n'
const values = 'name;amount\n"Tea; green";3\nCoffee;4\n'

/** A picture with a location in its metadata. */
const photo = () =>
  sharp({ create: { width: 640, height: 480, channels: 3, background: '#c9788a' } })
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

let w: ConsoleWorld
let alice: Person

beforeAll(async () => {
  w = await startConsole()
  alice = await w.person('alice')
  const { png, pdf } = await makeMedia(w.browser)
  const archive = await makeArchive({ 'photos/beach.txt': 'sand', 'secret.txt': 'hush' }, [
    'secret.txt',
  ])
  await alice.upload('show/readme.md', readme, 'text/markdown')
  await alice.upload('show/values.csv', values, 'text/csv')
  await alice.upload('show/answer.ts', source, 'video/mp2t')
  await alice.upload('show/run.py', 'print("x")\n', 'application/octet-stream')
  await alice.upload('show/pack.zip', archive, 'application/zip')
  const cell = (text: string) => `<w:tc><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`
  const word = `<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Minutes</w:t></w:r></w:p><w:p><w:r><w:t>All agreed.</w:t></w:r></w:p><w:tbl><w:tr>${cell('Rent')}${cell('4711')}</w:tr></w:tbl></w:body></w:document>`
  await alice.upload(
    'show/minutes.docx',
    Buffer.from(zipSync({ 'word/document.xml': strToU8(word) })),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  )
  await alice.upload(
    'show/latin.txt',
    Buffer.from('Gr\xfc\xdfe aus M\xfcnchen', 'latin1'),
    'text/plain',
  )
  await alice.upload('show/torn.zip', 'PK no archive', 'application/zip')
  await alice.upload('show/minutes.pdf', pdf, 'application/pdf')
  await alice.upload('show/torn.pdf', '%PDF-1.7 torn', 'application/pdf')
  await alice.upload('show/a.png', png, 'image/png')
  await alice.upload('show/b.png', png, 'image/png')
}, 120_000)
afterAll(() => w?.stop())

const viewerOn = (page: Page) => page.getByRole('dialog')

/** Opens a file of the folder in the viewer. */
async function show(page: Page, name: string): Promise<void> {
  await rowOf(name, page).click()
  await page.keyboard.press('Enter')
  await viewerOn(page).getByText(name, { exact: true }).waitFor()
}

/**
 * Closes a dialog by Escape. When its focused button has gone, a dialog gets the focus back a
 * moment later, and hears no key before.
 */
const closeByEscape = (page: Page, dialog: Locator) =>
  eventually(async () => {
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached', timeout: 2000 })
  })

const close = (page: Page) => closeByEscape(page, viewerOn(page))

describe('The viewer', () => {
  it('renders Markdown without its scripts, HTML and images', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'readme.md')
    const article = viewerOn(page).locator('article.markdown')
    await article.getByRole('heading', { name: 'Notes' }).waitFor()
    expect(await article.getByRole('cell', { name: 'owns' }).locator('strong').count()).toBe(1)
    expect(await article.locator('script, img').count()).toBe(0)
    expect(await article.textContent()).toContain(`<script>document.title = 'taken over'</script>`)
    expect(await article.locator('a', { hasText: 'run' }).getAttribute('href')).toBeNull()
    const link = article.getByRole('link', { name: 'read' })
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer nofollow')
    await expectAccessible(page)
    await pictures(page, 'viewer-markdown')
    await close(page)
  })

  it('shows separated values as a table, and source code with highlighting', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'values.csv')
    await viewerOn(page).getByRole('columnheader', { name: 'amount' }).waitFor()
    await viewerOn(page).getByRole('cell', { name: 'Tea; green' }).waitFor()
    await expectAccessible(page)
    await pictures(page, 'viewer-table')
    await close(page)
    await show(page, 'answer.ts')
    await viewerOn(page).locator('.hljs-keyword', { hasText: 'export' }).waitFor()
    expect(await viewerOn(page).locator('.text-scroll').textContent()).toBe(source)
    await expectAccessible(page)
    await close(page)
    await show(page, 'run.py')
    await viewerOn(page).locator('.hljs-string').waitFor()
    await close(page)
  })

  it('shows the text and the tables of a document', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'minutes.docx')
    await viewerOn(page).getByRole('heading', { name: 'Minutes' }).waitFor()
    await viewerOn(page).getByText('All agreed.').waitFor()
    await viewerOn(page).getByRole('cell', { name: '4711' }).waitFor()
    await expectAccessible(page)
    await close(page)
  })

  it('decodes a text in an old character set', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'latin.txt')
    await viewerOn(page).getByText('Grüße aus München').waitFor()
    await close(page)
  })

  it('lists the contents of an archive', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'pack.zip')
    await viewerOn(page).getByText('photos/beach.txt').waitFor()
    await viewerOn(page).getByText('2 entries').waitFor()
    expect(await viewerOn(page).getByRole('img', { name: 'Encrypted' }).count()).toBe(1)
    await expectAccessible(page)
    await pictures(page, 'viewer-archive')
    // A file of the archive opens, and one that is encrypted does not.
    expect(await viewerOn(page).getByRole('button', { name: 'secret.txt' }).count()).toBe(0)
    await viewerOn(page).getByRole('button', { name: 'photos/beach.txt' }).click()
    await viewerOn(page).getByText('sand', { exact: true }).waitFor()
    await expectAccessible(page)
    await viewerOn(page).getByRole('button', { name: 'Back to the archive' }).press('Enter')
    await viewerOn(page).getByText('2 entries').waitFor()
    await close(page)
    await show(page, 'torn.zip')
    await viewerOn(page).getByText('There is no preview of this file.').waitFor()
    await close(page)
  })

  it('shows PDF documents in a frame with an opaque origin, and searches in them', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'minutes.pdf')
    const frame = viewerOn(page).frameLocator('iframe')
    await frame.locator('.textLayer', { hasText: 'We agreed on everything.' }).waitFor()
    await frame.getByText('of 1').waitFor()
    await pictures(page, 'viewer-pdf')
    const inside = page.frames().find(one => one.url().endsWith('/pages/pdf'))
    expect(await inside?.evaluate('self.origin')).toBe('null')
    await frame.getByRole('searchbox', { name: 'Find in the document' }).fill('agreed')
    await frame.locator('.highlight.selected').waitFor()
    await frame.getByRole('searchbox').fill('nowhere')
    await frame.getByText('Not found').waitFor()
    await frame.getByRole('button', { name: 'Zoom in' }).click()
    // A key pressed in the frame closes the viewer around it.
    await page.keyboard.press('Escape')
    await viewerOn(page).waitFor({ state: 'detached' })
    await show(page, 'torn.pdf')
    await viewerOn(page).getByText('There is no preview of this file.').waitFor()
    await close(page)
  })

  it('zooms pictures by keys, buttons and double clicks', async () => {
    const page = await alice.open('/files/show')
    await show(page, 'a.png')
    const image = viewerOn(page).getByRole('img', { name: 'a.png' })
    await until(page, `document.querySelector('.picture img')?.naturalWidth === 1200`)
    const whole = await image.boundingBox()
    await page.keyboard.press('+')
    await until(page, `document.querySelector('.picture-stage').dataset.zoomed === 'true'`)
    await viewerOn(page).getByRole('button', { name: 'Zoom in' }).click()
    await viewerOn(page).getByRole('button', { name: 'Fit to the window' }).click()
    await until(page, `document.querySelector('.picture-stage').dataset.zoomed === 'false'`)
    await image.dblclick()
    await viewerOn(page).getByText('250%').waitFor()
    expect((await image.boundingBox())?.width).toBeGreaterThan((whole?.width ?? 0) * 2)
    await expectAccessible(page)
    await pictures(page, 'viewer-zoom')
    await page.keyboard.press('0')
    await viewerOn(page).getByText('100%').waitFor()
    await close(page)
  })

  it('plays a slide show up to the last picture', async () => {
    const page = await alice.open('/files/show')
    await page.clock.install()
    await show(page, 'a.png')
    await viewerOn(page).getByRole('button', { name: 'Play pictures' }).click()
    await viewerOn(page).getByRole('button', { name: 'Pause' }).waitFor()
    await until(page, `document.querySelector('.picture img')?.complete`)
    await page.clock.fastForward(5100)
    await viewerOn(page).getByRole('img', { name: 'b.png' }).waitFor()
    await viewerOn(page)
      .getByRole('button', { name: 'Play pictures' })
      .waitFor({ state: 'detached' })
    expect(await viewerOn(page).getByRole('button', { name: 'Pause' }).count()).toBe(0)
    await page.clock.resume()
    await close(page)
    expectQuiet(alice)
  })

  it('shows camera and location of a picture, in the details and beside the picture', async () => {
    await alice.upload('told/tokyo.jpg', await photo(), 'image/jpeg')
    const page = await alice.open('/files/told?details=true')
    await rowOf('tokyo.jpg', page).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    for (const shown of [
      '640 × 480 pixels',
      'Acme Two',
      'Acme 35mm',
      '1/250 s · ƒ/2.8 · ISO 400 · 35 mm',
    ])
      await details.getByText(shown).waitFor()
    // Local time of the camera, not of the viewer.
    await details.getByText(/Monday,? 2 January 2023.*03:04/).waitFor()
    await details.getByText('35.50000° S, 139.75000° E').waitFor()
    await details.getByRole('button', { name: 'Copy the place' }).waitFor()
    const map = details.getByRole('link', { name: 'Show on OpenStreetMap' })
    expect(await map.getAttribute('href')).toContain('mlat=-35.5&mlon=139.75')
    expect(await map.getAttribute('rel')).toBe('noopener noreferrer')
    await expectAccessible(page)
    await pictures(page, 'details-photo')
    await page.keyboard.press('Enter')
    await viewerOn(page).getByRole('img', { name: 'tokyo.jpg' }).waitFor()
    await page.keyboard.press('i')
    const beside = viewerOn(page).getByRole('complementary', { name: 'Details of the picture' })
    await beside.getByText('139.75000° E').waitFor()
    await expectAccessible(page)
    await pictures(page, 'viewer-photo')
    await viewerOn(page).getByRole('button', { name: 'Details of the picture' }).click()
    await beside.waitFor({ state: 'detached' })
    await close(page)
    expectQuiet(alice)
  })

  it('draws SVG without its scripts', async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><script>fetch('https://elsewhere.example/')</script><rect width="40" height="20" fill="teal"/></svg>`
    await alice.upload('drawn/logo.svg', svg, 'image/svg+xml')
    const page = await alice.open('/files/drawn')
    await show(page, 'logo.svg')
    const image = viewerOn(page).getByRole('img', { name: 'logo.svg' })
    type Drawn = { naturalWidth: number }
    await until(page, `document.querySelector('.viewer img')?.naturalWidth > 0`)
    expect(await image.evaluate(one => (one as unknown as Drawn).naturalWidth)).toBeGreaterThan(0)
    await close(page)
    expectQuiet(alice)
  })

  it('shows title, artist and album of a song', async () => {
    const frame = (id: string, text: string) => {
      const value = Buffer.concat([Buffer.from([3]), Buffer.from(text)])
      const head = Buffer.alloc(10)
      head.write(id)
      head.writeUInt32BE(value.length, 4)
      return Buffer.concat([head, value])
    }
    const frames = Buffer.concat([
      frame('TIT2', 'Über den Wolken'),
      frame('TPE1', 'Ada'),
      frame('TALB', 'Sky'),
      frame('TYER', '1974'),
    ])
    const head = Buffer.from([
      0x49,
      0x44,
      0x33,
      3,
      0,
      0,
      0,
      0,
      frames.length >> 7,
      frames.length & 127,
    ])
    const song = Buffer.concat([head, frames, Buffer.from('fffb9064', 'hex'), Buffer.alloc(2000)])
    await alice.upload('music/song.mp3', song, 'audio/mpeg')
    const page = await alice.open('/files/music')
    await show(page, 'song.mp3')
    await viewerOn(page).getByText('Über den Wolken').waitFor()
    await viewerOn(page).getByText('Ada', { exact: true }).waitFor()
    await viewerOn(page).getByText('Sky · 1974').waitFor()
    await close(page)
  })

  it('shares, marks, renames and deletes a file, and shows its versions', async () => {
    for (const name of ['one', 'two', 'three']) await alice.upload(`act/${name}.txt`, name)
    const page = await alice.open('/files/act')
    await show(page, 'one.txt')
    const viewer = page.getByRole('dialog', { name: /\.txt$/ })
    await viewer.getByRole('button', { name: 'Add to favourites' }).click()
    await viewer.getByRole('button', { name: 'Remove from favourites' }).waitFor()
    await viewer.getByRole('button', { name: 'Versions' }).click()
    await viewer
      .getByRole('complementary', { name: 'Versions' })
      .getByText('When this file')
      .waitFor()
    await expectAccessible(page)
    await pictures(page, 'viewer-versions')
    await viewer.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('New name of “one.txt”').fill('four.txt')
    // Arrow keys in the field move its cursor only.
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await viewer.getByText('four.txt', { exact: true }).waitFor()
    await viewer.getByRole('button', { name: 'Share…' }).click()
    const sharing = page.getByRole('dialog', { name: /^Share/ })
    await sharing.waitFor()
    await pictures(page, 'viewer-share')
    await closeByEscape(page, sharing)
    await viewer.getByRole('button', { name: 'Delete' }).click()
    await viewer.getByText(/^(one|two|three)\.txt$/).waitFor()
    await page.keyboard.press('Escape')
    await rowOf('four', page).waitFor({ state: 'detached' })
    await rowOf('three', page).waitFor()
    expectQuiet(alice)
  })

  it('goes to the next file by swipe, on a phone', async () => {
    const bob = await w.person('bob', telephone)
    await bob.upload('a.bin', 'first', 'application/octet-stream')
    await bob.upload('b.bin', 'second', 'application/octet-stream')
    const page = await bob.open('/files')
    await show(page, 'a.bin')
    const touch = (type: string, x: number) =>
      page.evaluate(`(() => {
        const target = document.querySelector('.viewer-stage .preview')
        const touch = new Touch({ identifier: 1, target, clientX: ${x}, clientY: 300 })
        const touches = '${type}' === 'touchend' ? [] : [touch]
        target.dispatchEvent(new TouchEvent('${type}', { touches, changedTouches: [touch], bubbles: true }))
      })()`)
    await touch('touchstart', 300)
    await touch('touchend', 100)
    await viewerOn(page).getByText('b.bin', { exact: true }).waitFor()
    await pictures(page, 'viewer-telephone')
    expectQuiet(bob)
  })
})
