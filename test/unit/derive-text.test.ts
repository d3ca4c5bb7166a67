import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { strToU8, type Zippable, zipSync } from 'fflate'
import { createDerive, type Derive } from '../../src/derive/derive.ts'
import { createLog } from '../../src/runtime/log.ts'
import { pdfOf } from '../support/pdf-of.ts'

let dir: string
let derive: Derive
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satchel-text-test-'))
  derive = createDerive({ processes: 1, readable: [dir], log: createLog({ logLevel: 'silent' }) })
})
afterAll(async () => {
  await derive.stop()
  await rm(dir, { recursive: true, force: true })
})

interface Read {
  text?: string
  failed?: string
}

async function read(bytes: Uint8Array | string, format: string): Promise<Read> {
  const path = join(dir, `${Math.random()}`)
  await writeFile(path, bytes)
  return readFileAt(path, format)
}

async function readFileAt(path: string, format: string): Promise<Read> {
  const outcome = await derive.run({
    kind: 'text',
    source: { path },
    mediaType: 'x/y',
    input: { format },
  })
  if (!outcome.ok) return { failed: outcome.reason }
  const { failed } = outcome.value as { failed?: string }
  if (failed) return { failed }
  const [body = Buffer.alloc(0)] = outcome.outputs
  return { text: brotliDecompressSync(body).toString() }
}

const textOf = async (bytes: Uint8Array | string, format: string) =>
  (await read(bytes, format)).text ?? 'failed'

const office = (parts: Record<string, string>, options: Zippable = {}) =>
  zipSync({
    ...Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])),
    ...options,
  })

const word = (inner: string, before = '') =>
  office({
    'word/document.xml': `<?xml version="1.0"?>${before}<w:document xmlns:w="w"><w:body>${inner}</w:body></w:document>`,
  })

describe('The text of a file', () => {
  it('is read in UTF-8, UTF-16 and Latin-1', async () => {
    expect(await textOf('Größe Žluťoučký 日本', 'text')).toBe('Größe Žluťoučký 日本')
    expect(await textOf(Buffer.from('\ufeffGröße', 'utf8'), 'text')).toBe('Größe')
    expect(await textOf(Buffer.from('\ufeffGröße', 'utf16le'), 'text')).toBe('Größe')
    expect(await textOf(Buffer.from('\ufeffGröße', 'utf16le').swap16(), 'text')).toBe('Größe')
    expect(await textOf(Buffer.from('Größe', 'latin1'), 'text')).toBe('Größe')
  })

  it('is the visible text of HTML', async () => {
    const html =
      '<!doctype html><head><title>Title &amp; more</title><style>p{color:red}</style></head><body><script>alert("no")</script><p>Un<b>believ</b>able &#252;ber <!-- hidden --> &Uuml;</p><p>second'
    expect((await textOf(html, 'html')).split(/\s+/).filter(Boolean)).toEqual([
      'Title',
      '&',
      'more',
      'Unbelievable',
      'über',
      'Ü',
      'second',
    ])
  })

  it('is extracted from Office Open XML and OpenDocument files', async () => {
    const docx = word(
      '<w:p><w:r><w:t>Dear</w:t><w:tab/><w:t>Ms M&#252;ller</w:t></w:r></w:p><w:p><w:r><w:t>second</w:t><w:delText>gone</w:delText></w:r></w:p>',
    )
    expect(await textOf(docx, 'office')).toBe('Dear Ms Müller\nsecond')
    const xlsx = office({
      'xl/sharedStrings.xml': '<sst><si><t>Rent</t></si><si><t>March</t></si></sst>',
      'xl/worksheets/sheet1.xml':
        '<worksheet><sheetData><row><c t="s"><v>0</v></c><c><v>4711</v></c><c t="inlineStr"><is><t>inline</t></is></c><c t="s"><v>1</v></c></row></sheetData></worksheet>',
    })
    expect((await textOf(xlsx, 'office')).split(/\s+/)).toEqual(['Rent', '4711', 'inline', 'March'])
    const slide = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`
    const pptx = office({
      'ppt/slides/slide10.xml': slide('tenth'),
      'ppt/slides/slide2.xml': slide('second'),
      'ppt/notesSlides/notesSlide1.xml': slide('spoken'),
    })
    expect((await textOf(pptx, 'office')).split(/\s+/)).toEqual(['second', 'tenth', 'spoken'])
    const odt = office({
      'content.xml':
        '<office:document-content><office:automatic-styles><x>style</x></office:automatic-styles><office:body><office:text><text:h>Heading</text:h><text:p>One<text:s/>two</text:p></office:text></office:body></office:document-content>',
    })
    expect(await textOf(odt, 'office')).toBe('Heading\nOne two')
  })

  it('is extracted from a PDF', async () => {
    expect(
      (await textOf(pdfOf(['The quokka', 'arrives (early)'], 'second page'), 'pdf')).split(/\s+/),
    ).toEqual([...['The', 'quokka', 'arrives', '(early)'], ...['second', 'page']])
  })

  it('is extracted from an e-mail, without its attachments', async () => {
    const mail = [
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from us',
      'From: Alice <alice@example.com>',
      'Content-Type: multipart/mixed; boundary="XX"',
      '',
      '--XX',
      'Content-Type: multipart/alternative; boundary=YY',
      '',
      '--YY',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Sch=F6nes Wet=',
      'ter',
      '--YY',
      'Content-Type: text/html',
      '',
      '<p>only html</p>',
      '--YY--',
      '--XX',
      'Content-Type: text/plain',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename=a.txt',
      '',
      Buffer.from('attached').toString('base64'),
      '--XX--',
    ].join('\r\n')
    const text = await textOf(mail, 'mail')
    for (const part of ['Grüße from us', 'alice@example.com', 'Schönes Wetter'])
      expect(text).toContain(part)
    for (const part of ['only html', 'attached', 'YY']) expect(text).not.toContain(part)
  })

  it('is extracted from the other parts of an e-mail without a text part', async () => {
    const mail = [
      `Subject: the =?utf-8?b?${Buffer.from('a\0b').toString('base64')}?= numbat`,
      'Content-Type: multipart/mixed; boundary=XX',
      ...['', '--XX', 'Content-Type: text/plain', '', 'no \0 text'],
      ...['--XX', 'Content-Type: text/plain', '', 'the quokka', '--XX--'],
    ].join('\r\n')
    const text = await textOf(mail, 'mail')
    for (const word of ['the', 'numbat', 'no', 'text', 'quokka']) expect(text).toContain(word)
  })

  it('is detected by content, whatever the name of the file', async () => {
    expect(await textOf(word('<w:p><w:t>inside</w:t></w:p>'), 'text')).toBe('inside')
    expect(await textOf(pdfOf(['inside']), 'text')).toBe('inside')
    expect(await textOf('no PDF', 'pdf')).toBe('no PDF')
    expect(await textOf('no ZIP', 'office')).toBe('no ZIP')
    expect(await textOf('a PDF begins with %PDF-', 'text')).toBe('a PDF begins with %PDF-')
    expect(await textOf(Buffer.concat([Buffer.from('\n\n'), pdfOf(['inside'])]), 'pdf')).toBe(
      'inside',
    )
    for (const format of ['pdf', 'office'])
      expect(await read(Buffer.from([1, 2, 0, 3]), format)).toEqual({ failed: 'unsupported' })
    expect(await read(Buffer.from([1, 2, 0, 3]), 'text')).toEqual({ failed: 'unsupported' })
    expect(await textOf('', 'text')).toBe('')
  })
})

describe('A hostile file', () => {
  it('has no entities expanded, neither internal nor external', async () => {
    const laughs = Array.from(
      { length: 9 },
      (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
    ).join('')
    const bomb = `<!DOCTYPE x [<!ENTITY l0 "haha">${laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>`
    const { text, failed } = await read(
      word('<w:p><w:t>before &l9; &f; after</w:t></w:p>', bomb),
      'office',
    )
    expect(failed).toBeUndefined()
    expect(text?.length).toBeLessThan(100)
    expect(text).not.toMatch(/haha|root:/)
  })

  it('is not unpacked beyond a limit', async () => {
    const bomb = zipSync({
      'word/document.xml': [new Uint8Array(200 * 1024 * 1024).fill(97), { level: 9 }],
    })
    expect(bomb.length).toBeLessThan(300_000)
    expect(await read(bomb, 'office')).toEqual({ failed: 'too-large' })
    // The same archive with a false, small size in its header.
    const lying = Buffer.from(bomb)
    for (let at = lying.indexOf('PK\x01\x02'); at >= 0; at = lying.indexOf('PK\x01\x02', at + 4))
      lying.writeUInt32LE(1000, at + 24)
    const { text, failed } = await read(lying, 'office')
    expect(failed ?? (text?.length ?? 0) <= 1000).toBeTruthy()
    const many = office(
      Object.fromEntries(
        Array.from({ length: 2100 }, (_, i) => [`ppt/slides/slide${i}.xml`, '<a:t>x</a:t>']),
      ),
    )
    expect(await read(many, 'office')).toEqual({ failed: 'too-large' })
    expect(await textOf('still alive', 'text')).toBe('still alive')
  })

  it('is abandoned where it is truncated', async () => {
    const docx = word('<w:p><w:t>inside</w:t></w:p>')
    expect(await read(docx.subarray(0, docx.length - 30), 'office')).toMatchObject({
      failed: expect.any(String),
    })
    const pdf = pdfOf(['inside'])
    // Readable parts may be returned. The test only requires that the reader terminates.
    expect(await read(pdf.subarray(0, 200), 'pdf')).toEqual(expect.anything())
  })

  it('does not run its scripts', async () => {
    const pdf = pdfOf(['calm'], {
      script: 'app.alert("run"); this.submitForm("http://127.0.0.1:9/")',
    })
    expect(await textOf(pdf, 'pdf')).toBe('calm')
  })

  it('has bounded costs: the first MiB of text is kept, and no large file is read into memory', async () => {
    const { text } = await read('word '.repeat(2_000_000), 'text')
    expect(text?.length).toBe(1024 * 1024)
    const path = join(dir, 'huge.pdf')
    await writeFile(path, '%PDF-1.7')
    await truncate(path, 129 * 1024 * 1024)
    expect(await readFileAt(path, 'pdf')).toEqual({ failed: 'too-large' })
    const deep = word(`${'<w:p>'.repeat(50_000)}<w:t>deep</w:t>`)
    expect(await read(deep, 'office')).toEqual(expect.anything())
    const tags = `<p ${'<'.repeat(300_000)}`
    expect(await read(tags, 'html')).toEqual(expect.anything())
    expect(await textOf('still alive', 'text')).toBe('still alive')
  })
})
