import type { MultiBar } from 'cli-progress'
import type { Progress as TransferProgress } from '../upload-engine/job.ts'
import { meter } from '../upload-engine/rate.ts'
import type { Context } from './run.ts'
import { bytes, plural } from './table.ts'
import { plain } from './text.ts'

/** Progress of a transfer: a bar on a terminal, and with -v one line per file. */
export interface Progress extends TransferProgress {
  /**
   * Adds expected work.
   *
   * @param size undefined if unknown
   */
  expect(files: number, size: number | undefined): void
  done(line: string): void
  stop(): void
}

const BAR = 24

export async function startProgress(context: Context): Promise<Progress> {
  const sum = {
    files: 0,
    filesDone: 0,
    size: 0 as number | undefined,
    at: 0,
    checks: 0,
    checked: 0,
  }
  const moved = meter()

  function line(): string {
    const speed = moved.rate()
    const files = sum.files > 1 ? ` · ${sum.filesDone} of ${plural(sum.files, 'file')}` : ''
    if (sum.size === undefined) return `${bytes(sum.at)} · ${bytes(speed)}/s${files}`
    const part = sum.size === 0 ? 1 : Math.min(1, sum.at / sum.size)
    const full = Math.floor(part * BAR)
    const left = speed > 0 && part < 1 ? ` · ${duration((sum.size - sum.at) / speed)} left` : ''
    const bar = '█'.repeat(full) + '░'.repeat(BAR - full)
    const checked = sum.checks === 1 && sum.checked > 0 ? ` ${Math.floor(sum.checked * 100)}%` : ''
    if (part === 1 && sum.checks > 0)
      return `${bar} ${bytes(sum.size)} · checking${checked}${files}`
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
      moved.add(count)
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
        sum.checked = 0
      }
    },
    checked(share) {
      sum.checked = share
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

/** A status line that is redrawn on a terminal. Returns a function that removes it. */
export async function startLine(context: Context, line: () => string): Promise<() => void> {
  const bars = context.json || !process.stderr.isTTY ? undefined : await openBar(line)
  return () => bars?.stop()
}

async function openBar(line: () => string): Promise<MultiBar> {
  const { default: progress } = await import('cli-progress')
  const bars = new progress.MultiBar({
    format: line,
    stream: process.stderr,
    clearOnComplete: true,
    // run() handles Ctrl-C, and prints how to resume.
    gracefulExit: false,
    // Redraws even if the value is unchanged, because the rate changes.
    forceRedraw: true,
  })
  bars.create(1, 0)
  return bars
}

/** 75 becomes 1 min 15 s. */
export function duration(seconds: number): string {
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
}
