import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

// Prints random comments, test titles and commit subjects for a reader who does not know the code:
// `node test/tools/sample-prose.ts SEED [REVISION]`. The seed makes a sample repeatable. The commit
// subjects are those since the revision.

const [seedText = '1', revision = 'HEAD~50'] = process.argv.slice(2)
const SIZES = { comments: 100, titles: 50, subjects: 50 }

/** A generator of numbers from 0 to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const next = random(Number(seedText))

function sample<T>(all: T[], size: number): T[] {
  const rest = [...all]
  return Array.from({ length: Math.min(size, rest.length) }, () =>
    rest.splice(Math.floor(next() * rest.length), 1),
  ).flat()
}

const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .filter(Boolean)

const sources = git('ls-files', '*.ts', '*.tsx').filter(
  name => !/generated\.ts$|graph-types\.d\.ts$/.test(name),
)

interface Found {
  place: string
  text: string
  /** The line of code below a comment, without which many comments cannot be judged. */
  code?: string
}

const placeOf = (name: string, text: string, index: number) =>
  `${name}:${text.slice(0, index).split('\n').length}`

function commentsOf(name: string): Found[] {
  const text = readFileSync(name, 'utf8')
  const blocks = text.matchAll(/^[ \t]*\/\*\*[\s\S]*?\*\/|^(?:[ \t]*\/\/ .*\n)+/gm)
  return [...blocks].map(block => ({
    place: placeOf(name, text, block.index),
    text: block[0].replace(/^[ \t]*(?:\/\*\*|\*\/|\*|\/\/) ?|\s*\*\/$/gm, '').replace(/\s+/g, ' '),
    code:
      text
        .slice(block.index + block[0].length)
        .trimStart()
        .split('\n')[0] ?? '',
  }))
}

/** The titles of tests as Jest reports them: below the titles of the groups around them. */
function titlesOf(name: string): Found[] {
  const source = readFileSync(name, 'utf8')
  const titles = source.matchAll(
    /^( *)(it|describe)(?:\.\w+(?:\([^)]*\)|`[^`]*`)?)?\(\s*(['"`])(.+?)\3,/gm,
  )
  const groups: { indent: number; text: string }[] = []
  return [...titles].flatMap(({ index, 1: spaces = '', 2: kind, 4: own = '' }) => {
    const indent = spaces.length
    while ((groups.at(-1)?.indent ?? -1) >= indent) groups.pop()
    const text = [...groups.map(group => group.text), own].join(' › ')
    if (kind === 'it') return [{ place: placeOf(name, source, index), text }]
    groups.push({ indent, text: own })
    return []
  })
}

const print = (heading: string, found: Found[]) => {
  console.log(`\n# ${heading}\n`)
  for (const { place, text, code } of found) {
    console.log(`- ${text.trim()} (${place})`)
    if (code) console.log(`      ${code}`)
  }
}

print('Comments', sample(sources.flatMap(commentsOf), SIZES.comments))
const tests = sources.filter(name => name.endsWith('.test.ts'))
print('Test titles', sample(tests.flatMap(titlesOf), SIZES.titles))
const subjects = git('log', '--format=%h %s', `${revision}..HEAD`).map(line => ({
  place: line.slice(0, line.indexOf(' ')),
  text: line.slice(line.indexOf(' ') + 1),
}))
print('Commit subjects', sample(subjects, SIZES.subjects))
