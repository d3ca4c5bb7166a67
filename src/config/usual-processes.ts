import { availableParallelism, totalmem } from 'node:os'

/** What each process that derives something from files may hold, in bytes. */
const EACH = 512 * 1024 * 1024

/**
 * How many processes derive things from files at a time, unless the operator says it: requests have
 * one processor for themselves, and half of the memory, which is that of the container where it has
 * a limit.
 */
export function usualProcesses(
  processors = availableParallelism(),
  memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
): number {
  return Math.max(1, Math.min(processors - 1, Math.floor(memory / 2 / EACH)))
}
