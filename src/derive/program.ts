import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { bounded, ENVIRONMENT, MARGIN, MEMORY, memoryOf, WATCH_MS } from './bounded.ts'
import type { Ended } from './child.ts'
import type { Bounds, FailureReason } from './outcome.ts'

/** The maximum length of the messages that are read; the rest is discarded. */
const SAID = 64 * 1024

/** A process of a program of the system that makes a picture. */
export interface ProgramProcess {
  readonly pid: number
  ended: Promise<Ended>
  end(): void
}

interface Reading {
  /** A named pipe to read the picture from, instead of file descriptor 3. */
  pipe?: string
  /** Reads a value from the program's messages, which are not trusted. */
  valueIn?: (said: string) => unknown
}

/** The end of a named pipe, which waits for a program that writes into it. */
const readEnd = (pipe: string): Socket =>
  new Socket({ fd: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })

/** Ends the reading of a pipe, even if no program has opened it. */
function endPipe(pipe: string): void {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
  } catch {
    // The reading has ended.
  }
}

/**
 * Runs a program of the system within the same bounds as other jobs. It can write no file: its
 * picture goes to file descriptor 3 or into a pipe.
 */
export async function runProgram(
  words: string[],
  { ms, outputBytes }: Bounds,
  { pipe, valueIn = () => undefined }: Reading = {},
): Promise<ProgramProcess> {
  const [command, args] = await bounded(words, {
    processorSeconds: Math.ceil(ms / 1000) + 1,
    memory: MEMORY - MARGIN,
    writes: false,
  })
  const child = spawn(command, args, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const [, , messages, third] = child.stdio
  const output = pipe === undefined ? third : readEnd(pipe)
  const isRead = new Promise<void>(resolve => output?.on('close', resolve))
  const pid = child.pid ?? 0
  let reason: FailureReason | undefined
  const kill = (why: FailureReason) => {
    reason ??= why
    child.kill('SIGKILL')
  }

  let [length, said] = [0, '']
  const chunks: Buffer[] = []
  output?.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > outputBytes) return kill('too-large')
    chunks.push(chunk)
  })
  messages?.on('data', (chunk: Buffer) => {
    if (said.length < SAID) said += chunk.toString('latin1')
  })
  for (const stream of [messages, output]) stream?.on('error', () => {})
  const ended = new Promise<Ended>(resolve => {
    const watch = setInterval(() => {
      if ((memoryOf(pid)?.resident ?? 0) > MEMORY - MARGIN) kill('memory')
    }, WATCH_MS)
    const limit = setTimeout(() => kill('time'), ms)
    child.on('error', () => kill('crashed'))
    child.on('close', async (_code, signal) => {
      if (pipe !== undefined) {
        endPipe(pipe)
        await isRead
      }
      clearInterval(watch)
      clearTimeout(limit)
      if (reason) return resolve({ ok: false, reason })
      if (signal) return resolve({ ok: false, reason: 'crashed' })
      // Programs also succeed, with empty output, for a file without pictures.
      if (length === 0) return resolve({ ok: false, reason: 'unreadable' })
      resolve({ ok: true, value: valueIn(said), outputs: [Buffer.concat(chunks)] })
    })
  })
  return { pid, ended, end: () => kill('crashed') }
}
