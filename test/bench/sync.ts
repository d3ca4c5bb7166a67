/**
 * The cost of `satchel sync --two-way` with many files: the first run, which adopts equal files,
 * runs without changes and with a few, and the delay of a change with --watch: `npm run bench:sync
 * [-- FILES]`. Compared with `find`, which only reads the metadata of the files.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { until } from '../support/until.ts'
import { insertFolder } from './folder.ts'
import { median, processorOf, startService } from './service.ts'

const FILES = Number(process.argv[2] ?? 100_000)
const EACH = 200
const TEXT = '0123456789'
const program = resolve('src/cli/main.ts')

const bench = await startService('sqlite')
const home = mkdtempSync(join(tmpdir(), 'satchel-bench-sync-'))
const local = join(home, 'many')
const root = await insertFolder(bench.db, bench, 'many', 0)
for (let n = 0; n < FILES / EACH; n++) {
  await insertFolder(bench.db, { ...bench, rootId: root }, `folder-${n}`, EACH)
  mkdirSync(join(local, `folder-${n}`), { recursive: true })
  for (let i = 0; i < EACH; i++)
    writeFileSync(join(local, `folder-${n}`, `file-${String(i).padStart(6, '0')}.txt`), TEXT)
}
await bench.db.run("UPDATE entry SET md5 = ? WHERE md5 <> ''", [
  createHash('md5').update(TEXT).digest('hex'),
])

const env = {
  PATH: process.env.PATH ?? '',
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  SATCHEL_URL: bench.url,
  SATCHEL_SESSION: bench.cookie.replace('session_id=', ''),
}

interface Figures {
  seconds: number
  processor: number
  memory: number
}

const memoryOf = (child: ChildProcess, before: number): number => {
  try {
    return (
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) /
      1024
    )
  } catch {
    return before
  }
}

/** Runs a program until it exits. */
async function measure(command: string, args: string[]): Promise<Figures> {
  const start = performance.now()
  const child = spawn(command, args, { env, cwd: home, stdio: ['ignore', 'ignore', 'inherit'] })
  const found = { memory: 0, processor: 0 }
  const watching = setInterval(() => {
    found.memory = memoryOf(child, found.memory)
    try {
      found.processor = processorOf(child.pid)
    } catch {}
  }, 50)
  const code = await new Promise(ended => child.once('exit', ended))
  clearInterval(watching)
  if (code !== 0) throw new Error(`${command} ends with ${code}`)
  return {
    seconds: (performance.now() - start) / 1000,
    processor: found.processor / 1000,
    memory: found.memory,
  }
}

const sync = (...more: string[]) =>
  measure(process.execPath, [program, 'sync', '--two-way', ...more, local, ':/many'])
const find = await measure('find', [local, '-type', 'f', '-size', '+1k', '-newermt', '2000-01-01'])
function report(title: string, { seconds, processor, memory }: Figures): void {
  const ratio = (seconds / find.seconds).toFixed(1)
  console.log(
    `${title.padEnd(34)} ${seconds.toFixed(2)} s (${ratio} × find), ${processor.toFixed(2)} s of processor, ${memory.toFixed(0)} MiB`,
  )
}

async function put(name: string, text: string): Promise<void> {
  const form = new FormData()
  form.append('folder', 'many/folder-0')
  form.append('on_conflict', 'replace')
  form.append('file', new Blob([text]), name)
  const response = await fetch(`${bench.url}/api/files/upload`, {
    method: 'POST',
    headers: { cookie: bench.cookie },
    body: form,
  })
  if (response.status !== 200) throw new Error(await response.text())
}

console.log(`${FILES} files in ${FILES / EACH} folders`)
report('find', find)
report('first run, all equal', await sync())
for (let i = 0; i < 3; i++) report('no changes', await sync())
for (let i = 0; i < 10; i++) {
  writeFileSync(join(local, `folder-${i}`, 'new.txt'), `new ${i}`)
  await put(`remote-${i}.txt`, `remote ${i}`)
}
report('10 new on each side', await sync())
renameSync(join(local, 'folder-1'), join(local, 'renamed'))
report(`a folder of ${EACH} files renamed`, await sync())
const states = join(home, 'state/satchel/syncs')
const bytes = readdirSync(states).reduce((sum, name) => sum + statSync(join(states, name)).size, 0)
console.log(`state: ${(bytes / 2 ** 20).toFixed(1)} MiB`)

const child = spawn(process.execPath, [program, 'sync', '--watch', local, ':/many'], {
  env,
  cwd: home,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const lines: string[] = []
child.stdout.on('data', chunk => lines.push(String(chunk)))
const exists = (path: string) => until(() => lines.some(line => line.includes(path)), 120_000, 5)
writeFileSync(join(local, 'ready.txt'), 'ready')
await exists('ready.txt')
await new Promise(done => setTimeout(done, 5000))
const idle = processorOf(child.pid)
await new Promise(done => setTimeout(done, 10_000))
const rest = (processorOf(child.pid) - idle) / 10_000
const times: Record<'sent' | 'came', number[]> = { sent: [], came: [] }
const before = processorOf(child.pid)
for (let i = 0; i < 10; i++) {
  const start = performance.now()
  writeFileSync(join(local, `folder-${i + 2}`, 'watched.txt'), `watched ${i}`)
  await exists(`folder-${i + 2}/watched.txt`)
  times.sent.push(performance.now() - start)
  const middle = performance.now()
  await put(`watched-${i}.txt`, `watched ${i}`)
  await exists(`watched-${i}.txt`)
  times.came.push(performance.now() - middle)
}
const used = (processorOf(child.pid) - before) / 20_000
console.log(
  `--watch: sent after ${median(times.sent).toFixed(0)} ms, received after ${median(times.came).toFixed(0)} ms (medians of 10); ${used.toFixed(2)} s of processor for each change, ${(rest * 100).toFixed(1)} % of one when idle, ${memoryOf(child, 0).toFixed(0)} MiB`,
)
child.kill('SIGKILL')
await bench.stop()
rmSync(home, { recursive: true })
