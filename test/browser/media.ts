import { BlobWriter, TextReader, ZipWriter } from '@zip.js/zip.js'
import type { Browser } from 'playwright-core'

/** A landscape in few colours, so that pictures of it stay small. */
const landscape = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 800" width="1200" height="800">
<rect width="1200" height="800" fill="#f7d9b4"/><circle cx="850" cy="300" r="95" fill="#f2855e"/>
<path d="M0 480 190 300l150 150 170-250 230 290 160-130 300 240v200H0z" fill="#c9788a"/>
<path d="M0 560 240 420l210 150 230-190 250 210 270-130v340H0z" fill="#7a5c8e"/>
<path d="M0 640q300-90 620 10t580-20v170H0z" fill="#44507d"/>
<path d="M0 730q380-80 700-20t500 0v90H0z" fill="#27345c"/></svg>`

export interface Media {
  png: Buffer
  pdf: Buffer
  webm: Buffer
  wav: Buffer
}

/** Files of the kinds that a browser shows, made by one. */
export async function makeMedia(browser: Browser): Promise<Media> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
  await page.setContent(`<style>body{margin:0}</style>${landscape}`)
  const png = await page.screenshot()
  const webm = await page.evaluate(`new Promise(done => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 180 })
    const paint = canvas.getContext('2d')
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/webm' })
    const parts = []
    let step = 0
    const drawing = setInterval(() => {
      paint.fillStyle = 'hsl(' + step * 8 + ' 60% 50%)'
      paint.fillRect(0, 0, 320, 180)
      if (++step === 25) recorder.stop()
    }, 40)
    recorder.ondataavailable = event => parts.push(event.data)
    recorder.onstop = async () => {
      clearInterval(drawing)
      const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
      done(btoa(String.fromCharCode(...bytes)))
    }
    recorder.start()
  })`)
  await page.setContent('<h1>Minutes</h1><p>We agreed on everything.</p>')
  const pdf = await page.pdf({ format: 'A5' })
  await page.close()
  return { png, pdf, webm: Buffer.from(String(webm), 'base64'), wav: tone() }
}

/** A second of a quiet note. */
function tone(): Buffer {
  const rate = 8000
  const samples = Buffer.from(
    Array.from({ length: rate }, (_, i) => 128 + Math.round(20 * Math.sin(i / 3))),
  )
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + rate, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(rate, 40)
  return Buffer.concat([head, samples])
}

/**
 * A ZIP archive. @param texts of its files, by path @param encrypted paths of those that are
 * encrypted
 */
export async function makeArchive(
  texts: Record<string, string>,
  encrypted: string[] = [],
): Promise<Buffer> {
  const zip = new ZipWriter(new BlobWriter())
  for (const [path, text] of Object.entries(texts))
    await zip.add(
      path,
      new TextReader(text),
      encrypted.includes(path) ? { password: 'tea', encryptionStrength: 3 } : {},
    )
  return Buffer.from(await (await zip.close()).arrayBuffer())
}
