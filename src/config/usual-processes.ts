import { availableParallelism, totalmem } from 'node:os'

/** The maximum memory of each derivation process, in bytes. */
const EACH = 512 * 1024 * 1024

/**
 * The default number of derivation processes. It leaves one processor for requests, and half of the
 * memory of the machine or container.
 */
export function usualProcesses(
  processors = availableParallelism(),
  memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
): number {
  return Math.max(1, Math.min(processors - 1, Math.floor(memory / 2 / EACH)))
}
