/**
 * Renders the same thumbnails as the service from a folder of photos, with sharp alone. Each photo
 * is decoded once, as many at a time as there are cores. Prints the elapsed seconds and the
 * processor seconds, without the start.
 */
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'

const [folder = '', cores = '1'] = process.argv.slice(2)
sharp.cache(false)
sharp.concurrency(1)
const webp = { quality: 76, effort: 2, smartSubsample: false } as const
const names = readdirSync(folder).filter(name => name.endsWith('.jpg'))
const before = process.cpuUsage()
const start = performance.now()

async function make(name: string): Promise<void> {
  const { data, info } = await sharp(join(folder, name), { failOn: 'error', sequentialRead: true })
    .autoOrient()
    .resize(1280, 1280, { fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const again = () =>
    sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } })
  const [large, small] = [
    await again().webp(webp).toBuffer(),
    await again().resize(256, 256, { fit: 'inside' }).webp(webp).toBuffer(),
  ]
  await writeFile(join(folder, `${name}.webp`), Buffer.concat([large, small]))
}

await Promise.all(
  Array.from({ length: Number(cores) }, async () => {
    for (let name = names.pop(); name; name = names.pop()) await make(name)
  }),
)
const { user, system } = process.cpuUsage(before)
process.stdout.write(
  JSON.stringify({ seconds: (performance.now() - start) / 1000, processor: (user + system) / 1e6 }),
)
