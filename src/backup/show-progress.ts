import { size } from '../runtime/table.ts'
import type { Progress } from './progress.ts'

/** Shows progress as a bar on a terminal, and warnings on standard error. */
export async function startProgress({
  quiet,
}: {
  quiet: boolean
}): Promise<Progress & { stop(): void }> {
  const state = { name: '', items: 0, bytes: 0, total: { items: 0, bytes: 0 }, since: Date.now() }
  const line = () => {
    const { name, items, bytes, total, since } = state
    if (items === 0 && total.items === 0) return name
    const left =
      total.bytes > 0 && bytes > 0
        ? ((Date.now() - since) / 1000) * (total.bytes / bytes - 1)
        : undefined
    const parts = [
      `${items}${total.items > 0 ? ` of ${total.items}` : ''}`,
      ...(total.bytes > 0 ? [`${size(bytes)} of ${size(total.bytes)}`] : []),
      ...(left !== undefined && left >= 1 ? [`${Math.ceil(left / 60)} min left`] : []),
    ]
    return `${name} · ${parts.join(' · ')}`
  }
  const bars = !quiet && process.stderr.isTTY ? await openBar(line) : undefined
  return {
    step(name, total = { items: 0, bytes: 0 }) {
      Object.assign(state, { name, items: 0, bytes: 0, total, since: Date.now() })
    },
    add(items, bytes) {
      state.items += items
      state.bytes += bytes
    },
    warn(message) {
      if (bars) bars.log(`${message}\n`)
      else process.stderr.write(`${message}\n`)
    },
    stop: () => bars?.stop(),
  }
}

async function openBar(format: () => string) {
  const { default: progress } = await import('cli-progress')
  const bars = new progress.MultiBar({
    format,
    stream: process.stderr,
    clearOnComplete: true,
    gracefulExit: true,
    forceRedraw: true,
  })
  bars.create(1, 0)
  return bars
}
