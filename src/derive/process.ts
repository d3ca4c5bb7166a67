import { Socket } from 'node:net'
import { frame, frameReader } from './frame.ts'
import { type Kind, kinds } from './kinds.ts'
import { type AnswerHead, Refusal, type Task } from './outcome.ts'

/*
 * The program of a process that derives things from files: reads jobs from its standard input, one at a time, and answers on file
 * descriptor 3. It ends with its service, whose end closes its input. Standard output is not used, because libraries may write there.
 */

const TASK_BYTES = 1024 * 1024

const out = new Socket({ fd: 3, readable: false, writable: true })

function send(head: AnswerHead, bytes: Uint8Array[] = []): void {
  out.cork()
  for (const part of frame(head, bytes)) out.write(part)
  out.uncork()
}

async function answer(task: Task): Promise<void> {
  const { work } = await kinds[task.kind as Kind]()
  const { value, outputs = [] } = await work(task)
  const size = outputs.reduce((sum, bytes) => sum + bytes.length, 0)
  if (size + JSON.stringify(value ?? null).length > task.bounds.outputBytes)
    throw new Refusal('too-large')
  send({ ok: true, value, outputs: outputs.map(bytes => bytes.length) }, outputs)
}

function failureOf(error: unknown): AnswerHead {
  if (error instanceof Refusal) return { ok: false, reason: error.reason }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // The library has no build for this platform, or the file was removed or is temporarily
  // unreadable.
  const said = String(error instanceof Error ? error.message : error).slice(0, 300)
  if (
    /^(ERR_DLOPEN_FAILED|(ERR_)?MODULE_NOT_FOUND)$/.test(code) ||
    /Could not load the "sharp" module/.test(said)
  )
    return { ok: false, unable: said, isLasting: true }
  if (/^(ERR_ACCESS_DENIED|ENOENT|EACCES|EIO)$/.test(code))
    return { ok: false, unable: said, isLasting: false }
  return { ok: false, reason: 'unreadable' }
}

const reader = frameReader<Task>(() => [])
process.stdin.on('data', (chunk: Buffer) => {
  const task = reader.add(chunk, TASK_BYTES)
  if (task) void answer(task.head).catch(error => send(failureOf(error)))
})
// Kill at once, because an exit would wait for the threads of libraries.
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'))
send({ ok: true, value: 'ready', outputs: [] })
