import { describe, expect, it } from '@jest/globals'
import { strToU8, zipSync } from 'fflate'
import { textOfCard } from '../../src/documents/card.ts'
import { textOfHtml } from '../../src/documents/html.ts'
import { textOfMail } from '../../src/documents/mail.ts'
import { readFlatDocument } from '../../src/documents/open-document.ts'
import { textOfRtf } from '../../src/documents/rich-text.ts'
import { blocksOfZipped, textOfZipped } from '../../src/documents/zipped.ts'

const zipped = (parts: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])))
const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean)
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const relationship = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`
const relationships = (...all: [id: string, type: string, target: string][]): string =>
  `<Relationships>${all.map(one => relationship(...one)).join('')}</Relationships>`

const paragraph = (inner: string): string => `<w:p>${inner}</w:p>`
const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`
const body = (inner: string): string => `<w:document><w:body>${inner}</w:body></w:document>`

describe('A Word document', () => {
  it('is read by its relationships, whatever the names of its parts', () => {
    const text = textOfZipped(
      zipped({
        '[Content_Types].xml': '<Types/>',
        '_rels/.rels': relationships(['r1', 'officeDocument', '/word/document2.xml']),
        'word/_rels/document2.xml.rels': relationships(
          ['r1', 'header', 'head.xml'],
          ['r2', 'comments', 'said/comments1.xml'],
          ['r3', 'chart', '../charts/c.xml'],
          ['r4', 'diagramData', 'smart.xml'],
          ['r5', 'glossaryDocument', 'glossary.xml'],
        ),
        'word/document2.xml': body(paragraph(run('body'))),
        'word/head.xml': `<w:hdr>${paragraph(run('header'))}</w:hdr>`,
        'word/said/comments1.xml': `<w:comments><w:comment>${paragraph(run('comment'))}</w:comment></w:comments>`,
        'charts/c.xml':
          '<c:chartSpace><c:title><a:p><a:r><a:t>chart</a:t></a:r></a:p></c:title><c:cat><c:strRef><c:strCache><c:pt><c:v>label</c:v></c:pt></c:strCache></c:strRef></c:cat><c:numCache><c:pt><c:v>4711</c:v></c:pt></c:numCache></c:chartSpace>',
        'word/smart.xml':
          '<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>art</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>',
        'word/glossary.xml': body(paragraph(run('glossary'))),
        'word/document.xml': body(paragraph(run('former'))),
      }),
    )
    expect(wordsOf(text)).toEqual(['body', 'header', 'comment', 'chart', 'label', 'art'])
  })

  it('is read without deleted, moved, hidden and duplicate text', () => {
    const content = [
      paragraph(`<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>${run('kept')}`),
      paragraph(`<w:moveFrom>${run('moved')}</w:moveFrom>`),
      paragraph('<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>'),
      paragraph(
        `<mc:AlternateContent><mc:Choice><w:txbxContent>${paragraph(run('box'))}</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>${paragraph(run('box'))}</w:txbxContent></mc:Fallback></mc:AlternateContent>`,
      ),
      paragraph(
        `<w:ruby><w:rt>${run('かんじ')}</w:rt><w:rubyBase>${run('漢字')}</w:rubyBase></w:ruby>`,
      ),
      paragraph(
        `${run('Soft')}<w:r><w:softHyphen/><w:t>ware</w:t><w:noBreakHyphen/><w:t>x</w:t></w:r>`,
      ),
    ].join('')
    const text = textOfZipped(zipped({ 'word/document.xml': body(content) }))
    expect(wordsOf(text)).toEqual(['kept', 'box', '漢字', 'Software-x'])
  })

  it('has headings, paragraphs and tables', () => {
    const cell = (text: string) => `<w:tc>${paragraph(run(text))}</w:tc>`
    const content = [
      paragraph(`<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>${run('Plan')}`),
      paragraph(run('See below.')),
      `<w:tbl><w:tr>${cell('a')}${cell('b')}</w:tr><w:tr>${cell('c')}<w:tc>${paragraph(run('d'))}${paragraph(run('e'))}</w:tc></w:tr></w:tbl>`,
    ].join('')
    expect(blocksOfZipped(zipped({ 'word/document.xml': body(content) }))).toEqual([
      { kind: 'heading', level: 2, text: 'Plan' },
      { kind: 'paragraph', text: 'See below.' },
      {
        kind: 'table',
        rows: [
          ['a', 'b'],
          ['c', 'd\ne'],
        ],
      },
    ])
  })
})

describe('A workbook', () => {
  const cell = (reference: string, value: string, more = '') =>
    `<c r="${reference}"${more}><v>${value}</v></c>`
  const workbook = (sheet: string, more: Record<string, string> = {}) =>
    zipped({
      '[Content_Types].xml': '<Types/>',
      '_rels/.rels': relationships(['r1', 'officeDocument', 'xl/workbook.xml']),
      'xl/_rels/workbook.xml.rels': relationships(
        ['r1', 'worksheet', 'worksheets/sheet.xml'],
        ['r2', 'sharedStrings', 'SharedStrings.xml'],
        ['r3', 'styles', 'styles.xml'],
      ),
      'xl/workbook.xml':
        '<workbook><sheets><sheet name="Budget" sheetId="1" r:id="r1"/></sheets></workbook>',
      'xl/SharedStrings.xml':
        '<sst><si><t>東京</t><rPh><t>トウキョウ</t></rPh></si><si><t>deleted</t></si></sst>',
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;EUR&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/></cellXfs></styleSheet>',
      'xl/worksheets/sheet.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
      ...more,
    })

  it('displays numbers, dates and texts like its cells', () => {
    const sheet = `<row>${[
      cell('A1', '0', ' t="s"'),
      cell('B1', '45292', ' s="1"'),
      cell('C1', '45292', ' s="2"'),
      cell('D1', '0.19', ' s="3"'),
      cell('E1', '1234.5', ' s="4"'),
      cell('F1', '0.30000000000000004'),
      cell('G1', '1', ' t="b"'),
      cell('I1', 'said', ' t="str"'),
    ].join('')}</row>`
    expect(blocksOfZipped(workbook(sheet))).toEqual([
      { kind: 'heading', level: 2, text: 'Budget' },
      {
        kind: 'table',
        rows: [
          ['東京', '2024-01-01', '01.01.2024', '19%', '1234.50 EUR', '0.3', 'TRUE', '', 'said'],
        ],
      },
    ])
  })

  it('is read with comments and texts of drawings, but without strings of deleted cells', () => {
    const text = textOfZipped(
      workbook('<row><c t="inlineStr"><is><t>inline</t></is></c></row>', {
        'xl/worksheets/_rels/sheet.xml.rels': relationships(
          ['r1', 'comments', '../comments1.xml'],
          ['r2', 'drawing', '../drawings/drawing1.xml'],
        ),
        'xl/comments1.xml':
          '<comments><commentList><comment><text><r><t>note</t></r></text></comment></commentList></comments>',
        'xl/drawings/drawing1.xml': '<wsDr><a:p><a:r><a:t>shape</a:t></a:r></a:p></wsDr>',
      }),
    )
    expect(wordsOf(text)).toEqual(['Budget', 'inline', 'note', 'shape'])
  })
})

describe('A presentation', () => {
  it('is read in the order of its slides, without masters', () => {
    const slide = (text: string) =>
      `<p:sld><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sp></p:sld>`
    const blocks = blocksOfZipped(
      zipped({
        '[Content_Types].xml': '<Types/>',
        '_rels/.rels': relationships(['r1', 'officeDocument', 'ppt/presentation.xml']),
        'ppt/presentation.xml':
          '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:sldIdLst></p:presentation>',
        'ppt/_rels/presentation.xml.rels': relationships(
          ['r1', 'slide', 'slides/slide1.xml'],
          ['r2', 'slide', 'slides/slide2.xml'],
          ['r3', 'slideMaster', 'master.xml'],
        ),
        'ppt/slides/_rels/slide2.xml.rels': relationships(['r1', 'notesSlide', '../notes.xml']),
        'ppt/slides/slide1.xml': slide('second'),
        'ppt/slides/slide2.xml': slide('first'),
        'ppt/slides/slide3.xml': slide('removed'),
        'ppt/notes.xml': '<p:notes><a:p><a:r><a:t>spoken</a:t></a:r></a:p></p:notes>',
        'ppt/master.xml': slide('click here'),
      }),
    )
    expect(blocks).toEqual([
      { kind: 'page', number: 1 },
      { kind: 'heading', level: 2, text: 'first' },
      { kind: 'paragraph', text: 'spoken' },
      { kind: 'page', number: 2 },
      { kind: 'heading', level: 2, text: 'second' },
    ])
  })
})

describe('An OpenDocument file', () => {
  const content = (inner: string) =>
    `<office:document-content><office:body>${inner}</office:body></office:document-content>`

  it('is read with its header, without tracked deletions', () => {
    const text = textOfZipped(
      zipped({
        'content.xml': content(
          '<office:text><text:tracked-changes><text:deletion><text:p>deleted</text:p></text:deletion></text:tracked-changes><text:h text:outline-level="1">Title</text:h><text:p>One<text:s text:c="2"/>two<office:annotation><dc:creator>Anna</dc:creator><dc:date>2026</dc:date><text:p>remark</text:p></office:annotation> three</text:p></office:text>',
        ),
        'styles.xml':
          '<office:document-styles><office:styles><x>no</x></office:styles><office:master-styles><style:header><text:p>Header</text:p></style:header></office:master-styles></office:document-styles>',
      }),
    )
    expect(wordsOf(text)).toEqual(['Title', 'remark', 'One', 'two', 'three', 'Header'])
  })

  it('has the tables of a spreadsheet, each with its name', () => {
    const cell = (text: string, more = '') =>
      `<table:table-cell${more}><text:p>${text}</text:p></table:table-cell>`
    expect(
      blocksOfZipped(
        zipped({
          'content.xml': content(
            `<office:spreadsheet><table:table table:name="Costs"><table:table-row>${cell('a')}<table:table-cell table:number-columns-repeated="2"/>${cell('b')}<table:table-cell table:number-columns-repeated="16000"/></table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table></office:spreadsheet>`,
          ),
        }),
      ),
    ).toEqual([
      { kind: 'heading', level: 2, text: 'Costs' },
      { kind: 'table', rows: [['a', '', '', 'b']] },
    ])
  })

  it('may be a single XML document', () => {
    expect(
      readFlatDocument(
        '<office:document><office:body><office:text><text:p>flat</text:p></office:text></office:body></office:document>',
      ).toString(),
    ).toBe('flat\n')
  })
})

describe('An e-book', () => {
  it('is read in the order of its chapters, with its title', () => {
    const text = textOfZipped(
      zipped({
        mimetype: 'application/epub+zip',
        'META-INF/container.xml':
          '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        'OEBPS/book.opf':
          '<package><metadata><dc:title>The Quokka</dc:title></metadata><manifest><item id="b" href="text/b%20.xhtml"/><item id="a" href="text/a.xhtml"/></manifest><spine><itemref idref="b"/><itemref idref="a"/></spine></package>',
        'OEBPS/text/a.xhtml': '<html><body><p>last</p></body></html>',
        'OEBPS/text/b .xhtml': '<html><body><p>first</p></body></html>',
      }),
    )
    expect(wordsOf(text)).toEqual(['The', 'Quokka', 'first', 'last'])
  })
})

describe('HTML', () => {
  it.each([
    [
      'entities',
      'Ma&ntilde;ana &Eacute;t&eacute; &lsquo;so&rsquo; &#8364; A&shy;B',
      'Mañana Été ‘so’ € AB',
    ],
    ['a short comment', '<!--><p>seen</p>', 'seen'],
    [
      'words across elements',
      'Ver<b>trags</b>ab<wbr>schluss<td>a</td><td>b</td>',
      'Vertragsabschluss a b',
    ],
    [
      'forms and pictures',
      '<textarea>one</textarea><input value="two"><img alt="three">',
      'one two three',
    ],
    ['hidden parts', '<p hidden>a<p style="display:none">b</p><div>c</div><del>d</del>', 'c'],
    ['scripts and styles', '<script>a<b</script><style>b</style><template>c</template>d', 'd'],
    [
      'XHTML',
      '<?xml version="1.0"?><html xmlns="x"><script src="a.js"/><p>seen</p></html>',
      'seen',
    ],
    ['SVG', '<svg xmlns="s"><style>a{}</style><text>one</text><text>two</text></svg>', 'one two'],
    ['angle brackets that are not elements', 'a < b && c > d <3', 'a < b && c > d <3'],
  ])('is read with %s', (_, html, text) => {
    expect(wordsOf(textOfHtml(html)).join(' ')).toBe(text)
  })
})

describe('An e-mail', () => {
  const head = 'From: Anna <anna@example.org>\r\nTo: bob@example.org\r\nSubject: about\r\n'
  const multipart = (kind: string, ...parts: string[]) =>
    `Content-Type: multipart/${kind}; boundary="b"\r\n\r\n${parts.map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`

  it.each([
    [
      'an encoded subject, split within a letter',
      'From: a@b.c\r\nSubject: =?utf-8?B?R3LD?=\r\n =?utf-8?B?vMOfZQ==?=\r\n\r\nx',
      'Grüße',
    ],
    [
      'a subject with a language',
      'From: a@b.c\r\nSubject: =?utf-8*de?Q?Sprache?=\r\n\r\nx',
      'Sprache',
    ],
    [
      'an empty plain part',
      head +
        multipart(
          'alternative',
          'Content-Type: text/plain\r\n\r\n',
          'Content-Type: text/html\r\n\r\n<p>offer</p>',
        ),
      'offer',
    ],
    [
      'a name of an attachment',
      head +
        multipart(
          'mixed',
          'Content-Type: text/plain\r\n\r\nsee',
          "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename*=utf-8''Miet%C3%BCbersicht.pdf\r\n\r\nx",
        ),
      'Mietübersicht.pdf',
    ],
    [
      'a forwarded message',
      head +
        multipart(
          'mixed',
          `Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\nFrom: carl@example.org\r\nSubject: inner\r\n\r\nforwarded`,
        ),
      'carl@example.org\nforwarded',
    ],
    ['a mark of UTF-8', `\xef\xbb\xbf${head}\r\nbody`, 'anna@example.org'],
    [
      'raw headers and no character set',
      'From: a@b.c\r\nSubject: Gr\xfc\xdfe aus M\xfcnchen\r\n\r\nDie T\xfcr',
      'Grüße aus München',
    ],
    ['a date', `${head}Date: Fri, 27 Nov 2026 10:00:00 +0100\r\n\r\nx`, '27 Nov 2026'],
  ])('is read with %s', async (_, mail, text) => {
    const read = await textOfMail(bytes(mail))
    for (const part of text.split('\n')) expect(read).toContain(part)
  })

  it('is read from one of its alternatives, and without the bytes of attachments', async () => {
    const mail =
      head +
      multipart(
        'alternative',
        'Content-Type: text/plain\r\n\r\nplain words',
        'Content-Type: text/html\r\n\r\n<p>html words</p>',
      )
    const text = await textOfMail(bytes(mail))
    expect(text).toContain('plain words')
    expect(text).not.toContain('html words')
  })

  it('may be one of several in a mailbox', async () => {
    const text = await textOfMail(
      bytes(
        `From a@b Mon Jan 1 00:00:00 2024\n${head}\none\n\nFrom a@b Mon Jan 1 00:00:00 2024\n${head}\ntwo\n`,
      ),
    )
    expect(wordsOf(text).filter(word => /^(one|two)$/.test(word))).toEqual(['one', 'two'])
  })

  it('is read as plain text if it has no headers', async () => {
    expect(await textOfMail(bytes('only words\n\nand more'))).toBe('only words\n\nand more')
  })

  it('is read in bounded time, whatever its depth', async () => {
    const deep = Array.from(
      { length: 500 },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`,
    ).join('')
    const read = textOfMail(bytes(`Subject: deep\nFrom: a@b.c\n${deep}`))
    await expect(read).rejects.toThrow('nesting depth')
  })
})

describe('RTF', () => {
  it.each([
    ['code pages', String.raw`{\rtf1\ansi\ansicpg1252 Gr\'fc\'dfe}`, 'Grüße'],
    [
      'Unicode, without its replacements',
      String.raw`{\rtf1\ansi\uc1 \u1076?\u1072?{\uc2 \u8364 ??}}`,
      'да€',
    ],
    [
      'fonts of other code pages',
      String.raw`{\rtf1\ansi{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}\f1 \'e4\'e0}`,
      'да',
    ],
    ['characters of two bytes', String.raw`{\rtf1\ansi\ansicpg932 \'90\'bf\'8b\'81}`, '請求'],
    ['paragraphs and escapes', String.raw`{\rtf1 a\par b\tab c \{d\}\~e}`, 'a b c {d} e'],
    [
      'neither pictures nor hidden text',
      String.raw`{\rtf1 a{\pict 0102}{\*\generator x}{\v b}{\info{\author c}}d}`,
      'ad',
    ],
  ])('is read with %s', (_, rtf, text) => {
    expect(wordsOf(textOfRtf(bytes(rtf))).join(' ')).toBe(text)
  })
})

describe('A vCard', () => {
  it('is read with quoted-printable values', () => {
    const card =
      'BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCl=\r\nler;Anna\r\nTEL:1\r\nEND:VCARD\r\n'
    expect(textOfCard(bytes(card))).toContain('Müller;Anna')
    expect(textOfCard(bytes(card))).toContain('TEL:1')
  })
})
