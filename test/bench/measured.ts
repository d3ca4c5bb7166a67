/**
 * The cost of moving bytes: elapsed time, and processor time, which hardly depends on other load.
 */
import { MiB, median, processorOf } from './service.ts'

export interface Figure {
  seconds: number
  /** Processor time of the server, in seconds. */
  processor: number
}

export async function measured(
  pid: number | undefined,
  work: () => Promise<unknown>,
): Promise<Figure> {
  const before = processorOf(pid)
  const start = performance.now()
  await work()
  return {
    seconds: (performance.now() - start) / 1000,
    processor: (processorOf(pid) - before) / 1000,
  }
}

export const medianOf = (figures: Figure[] = []): Figure => ({
  seconds: median(figures.map(({ seconds }) => seconds)),
  processor: median(figures.map(({ processor }) => processor)),
})

/** Prints a line that compares each side with the first one. */
export function report(
  title: string,
  { bytes, times }: { bytes: number; times: number },
  sides: [name: string, figures: Figure[] | undefined, aim?: number | undefined][],
): void {
  const [first = 0] = sides.map(([, figures]) => medianOf(figures).seconds)
  const said = sides.map(([name, figures, aim], i) => {
    const { seconds, processor } = medianOf(figures)
    const speed =
      bytes < MiB
        ? `${(times / seconds).toFixed(0)}/s`
        : `${((bytes * times) / MiB / seconds).toFixed(0)} MiB/s`
    const ratio =
      i === 0 ? '' : ` (${(first / seconds).toFixed(2)}${aim === undefined ? '' : `, aim ${aim}`})`
    const each =
      bytes < MiB
        ? `${((1000 * processor) / times).toFixed(2)} ms each`
        : `${((1024 * MiB * processor) / bytes / times).toFixed(2)} s/GiB`
    return `${name} ${speed}${ratio} ${each}`
  })
  process.stdout.write(`${title.padEnd(28)} ${said.join('   ')}\n`)
}
