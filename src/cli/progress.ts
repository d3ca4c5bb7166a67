import type { MultiBar } from 'cli-progress'
import type { Context } from './run.ts'
import { bytes, plural } from './table.ts'
import { plain } from './text.ts'

/** Shows how far a transfer is: a bar at a terminal, and with -v a line for every file. */
export interface Progress {
  /** More to do. Without a size nobody knows how much. */
  expect(files: number, size: number | undefined): void
  /** So much has gone over the network; less than 0 for what has to go again. */
  move(count: number): void
  /** So much need not go any more. */
  skip(count: number): void
  /** Waits while the service puts together what has gone. */
  checking<T>(work: Promise<T>): Promise<T>
  done(line: string): void
  stop(): void
}

const WINDOW_MS = 5000
const BAR = 24

export async function startProgress(context: Context): Promise<Progress> {
  const sum = { files: 0, filesDone: 0, size: 0 as number | undefined, at: 0, moved: 0, checks: 0 }
  const recent: { time: number; moved: number }[] = []

  /** Bytes in a second, over the last few. */
  function rate(): number {
    const time = performance.now()
    if (time - (recent.at(-1)?.time ?? 0) > 100) recent.push({ time, moved: sum.moved })
    while (recent.length > 2 && time - (recent[0]?.time ?? 0) > WINDOW_MS) recent.shift()
    const [first, last] = [recent[0], recent.at(-1)]
    return first && last && last.time > first.time
      ? Math.max(0, ((last.moved - first.moved) / (last.time - first.time)) * 1000)
      : 0
  }

  function line(): string {
    const speed = rate()
    const files = sum.files > 1 ? ` · ${sum.filesDone} of ${plural(sum.files, 'file')}` : ''
    if (sum.size === undefined) return `${bytes(sum.at)} · ${bytes(speed)}/s${files}`
    const part = sum.size === 0 ? 1 : Math.min(1, sum.at / sum.size)
    const full = Math.floor(part * BAR)
    const left = speed > 0 && part < 1 ? ` · ${duration((sum.size - sum.at) / speed)} left` : ''
    const bar = '█'.repeat(full) + '░'.repeat(BAR - full)
    if (part === 1 && sum.checks > 0) return `${bar} ${bytes(sum.size)} · checking${files}`
    return `${bar} ${Math.floor(part * 100)}% · ${bytes(sum.at)} of ${bytes(sum.size)} · ${bytes(speed)}/s${left}${files}`
  }

  const bars = context.json || !process.stderr.isTTY ? undefined : await openBar(line)
  const { notice } = context
  if (bars) context.notice = text => bars.log(`${plain(text)}\n`)

  return {
    expect(files, size) {
      sum.files += files
      sum.size = size === undefined || sum.size === undefined ? undefined : sum.size + size
    },
    move(count) {
      sum.at += count
      sum.moved += count
    },
    skip(count) {
      sum.at += count
    },
    async checking(work) {
      sum.checks++
      try {
        return await work
      } finally {
        sum.checks--
      }
    },
    done(text) {
      sum.filesDone++
      if (context.verbose) context.notice(text)
    },
    stop() {
      bars?.update()
      bars?.stop()
      context.notice = notice
    },
  }
}

async function openBar(line: () => string): Promise<MultiBar> {
  const { default: progress } = await import('cli-progress')
  const bars = new progress.MultiBar({
    format: line,
    stream: process.stderr,
    clearOnComplete: true,
    // Ctrl-C is ours: what can be gone on with is to be said.
    gracefulExit: false,
    // Every update draws, also where the value is the same: the rate goes on.
    forceRedraw: true,
  })
  bars.create(1, 0)
  return bars
}

/** 75 is 1 min 15 s. */
export function duration(seconds: number): string {
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
}
