import sharp from 'sharp'
import { pdfOf } from '../support/pdf-of.ts'

// Made-up files for `npm run seed`. The same arguments give the same bytes.

export interface SeedFile {
  path: string
  type: string
  bytes: Buffer
  /** The modification time, in milliseconds since 1970. */
  modifiedAt: number
}

const WIDTH = 1600
const HEIGHT = 1200
const text = (path: string, day: string, content: string, type = 'text/plain'): SeedFile => ({
  path,
  type,
  bytes: Buffer.from(content),
  modifiedAt: Date.parse(`${day}T09:30:00Z`),
})

/** A sequence of numbers from 0 to 1 that depends only on the seed (a linear congruence). */
function numbers(seed: number): () => number {
  let state = (seed * 7919 + 1) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A landscape in SVG: a sky, a sun and four chains of hills. */
function landscape(seed: number): string {
  const next = numbers(seed)
  const hue = Math.floor(next() * 360)
  const hill = (i: number) => {
    const base = HEIGHT * (0.45 + i * 0.14)
    const points = Array.from({ length: 9 }, (_, x) => {
      const y = base - next() * HEIGHT * 0.16
      return `${Math.round((x * WIDTH) / 8)} ${Math.round(y)}`
    })
    const colour = `hsl(${(hue + 110 + i * 12) % 360} 38% ${56 - i * 11}%)`
    return `<path fill="${colour}" d="M0 ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}Z"/>`
  }
  const sun = `cx="${Math.round(next() * WIDTH)}" cy="${Math.round(HEIGHT * (0.15 + next() * 0.2))}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">
    <linearGradient id="sky" x2="0" y2="1">
      <stop stop-color="hsl(${hue} 70% 62%)"/>
      <stop offset="1" stop-color="hsl(${(hue + 40) % 360} 80% 88%)"/>
    </linearGradient>
    <rect width="100%" height="100%" fill="url(#sky)"/>
    <circle ${sun} r="${Math.round(60 + next() * 70)}" fill="hsl(48 95% 88%)"/>
    ${[0, 1, 2, 3].map(hill).join('')}</svg>`
}

/** A photo with the date of its recording. Each trip has a month of 2026 of its own. */
async function photo(trip: string, month: number, i: number): Promise<SeedFile> {
  const pad = (value: number) => `${value}`.padStart(2, '0')
  const day = 3 + Math.floor(i / 6)
  const time = `${pad(8 + (i % 10))}:${pad((i * 17) % 60)}:00`
  const bytes = await sharp(Buffer.from(landscape(month * 1000 + i)))
    .jpeg({ quality: 82 })
    .withExif({
      IFD0: { Make: 'Satchel', Model: 'Seed' },
      IFD2: { DateTimeOriginal: `2026:${pad(month)}:${pad(day)} ${time}` },
    })
    .toBuffer()
  return {
    path: `Photos/${trip}/IMG_${1000 + month * 100 + i}.jpg`,
    type: 'image/jpeg',
    bytes,
    modifiedAt: Date.parse(`2026-${pad(month)}-${pad(day)}T${time}Z`),
  }
}

const TRIPS: [string, number][] = [
  ['Lake Constance', 5],
  ['Summer party', 7],
  ['Autumn walk', 10],
]

/** Photos of three trips, in turn. */
export async function* photos(count: number): AsyncGenerator<SeedFile> {
  for (let i = 0; i < count; i++) {
    const [trip, month] = TRIPS[i % TRIPS.length] ?? ['Trip', 1]
    yield await photo(trip, month, Math.floor(i / TRIPS.length))
  }
}

const budget = (rent: number) =>
  ['Item,Planned,Spent', `Rent,${rent},${rent}`, 'Food,420,388.5', 'Travel,150,210'].join('\n')

/** The first version of a file of `documents`, which replaces it. */
export const firstBudget = () =>
  text('Documents/Budget 2026.csv', '2026-01-05', budget(980), 'text/csv')

export const documents = (): SeedFile[] => [
  text('Documents/Budget 2026.csv', '2026-09-01', budget(1010), 'text/csv'),
  text(
    'Documents/Minutes/2026-09-14 Board.md',
    '2026-09-14',
    '# Board meeting\n\n- **Present**: Alice, Bob, Carol\n- The summer party made 214.50 EUR.\n- [ ] Bob orders 40 tulip bulbs.\n- [x] Carol books the hall.\n',
    'text/markdown',
  ),
  text(
    'Documents/Minutes/2026-10-12 Board.md',
    '2026-10-12',
    '# Board meeting\n\n1. The bulbs have arrived.\n2. The hall is booked for 5 December.\n',
    'text/markdown',
  ),
  text('Documents/Packing list.txt', '2026-05-01', 'tent\nlamp\nmatches\nfirst-aid kit\n'),
  {
    ...text('Documents/Invoices/Invoice 2026-0417.pdf', '2026-04-17', '', 'application/pdf'),
    bytes: pdfOf(['Invoice 2026-0417', 'Garden hose, 25 m: 39.90 EUR', 'Total: 39.90 EUR']),
  },
  {
    ...text('Documents/Invoices/Invoice 2026-0702.pdf', '2026-07-02', '', 'application/pdf'),
    bytes: pdfOf(['Invoice 2026-0702', 'Lemonade, 12 bottles: 17.88 EUR', 'Total: 17.88 EUR']),
  },
  text(
    'Projects/website/src/app.ts',
    '2026-08-20',
    "export const title = 'Garden club'\n\nexport function greet(name: string): string {\n  return 'Hello, ' + name\n}\n",
    'text/typescript',
  ),
  text(
    'Projects/website/README.md',
    '2026-08-20',
    '# Website of the garden club\n\nRun `npm start`.\n',
    'text/markdown',
  ),
]

/** A file that is deleted after its upload. */
export const draft = () => text('Documents/Old draft.txt', '2026-02-02', 'Not needed any more.\n')

/** The files of the workspace. */
export const clubFiles = (): SeedFile[] => [
  text(
    'Planting plan.md',
    '2026-03-01',
    '# Planting plan\n\n| Bed | Spring | Summer |\n|---|---|---|\n| North | tulips | dahlias |\n| South | peas | beans |\n',
    'text/markdown',
  ),
  text('Members.csv', '2026-06-10', 'Name,Since\nAlice,2019\nBob,2021\nCarol,2024\n', 'text/csv'),
  text('Tools/Inventory.txt', '2026-06-11', '4 spades\n2 rakes\n1 wheelbarrow\n'),
]

/** What the senders of a file request send, by the name of the sender. */
export async function sent(): Promise<[string, SeedFile][]> {
  const pictures = await Promise.all([20, 21, 22].map(i => photo('Summer party', 7, i)))
  return pictures.flatMap((file, i) => {
    const sender = ['Dora', 'Emil', 'Frida'][i]
    return sender ? [[sender, file] as [string, SeedFile]] : []
  })
}
