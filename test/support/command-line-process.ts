import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'

/** A command line with everything that a new process would receive. */
export interface CommandLine {
  program: string
  args: string[]
  stdin: string | Uint8Array
  env: Record<string, string>
  cwd: string
}

/** The result of a command line. */
export interface Ended {
  code: number | null
  out: string
  err: string
}

let count = 0

// The default handler of Node writes to the file descriptor.
process.on('warning', warning => process.stderr.write(`${warning.stack}\n`))

/**
 * A process that runs one command line after another. It exits when the channel to its parent
 * closes.
 */
process.on('message', async (given: CommandLine) => {
  for (const name of Object.keys(process.env))
    if (!Object.hasOwn(given.env, name)) delete process.env[name]
  Object.assign(process.env, given.env)
  process.chdir(given.cwd)
  process.argv = [process.execPath, given.program, ...given.args]
  process.exitCode = undefined
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  use({ stdin: new PassThrough().end(given.stdin), stdout: into(out), stderr: into(err) })

  // Only this module is evaluated again. Its imports stay loaded.
  count += 1
  process.channel?.unref()
  await import(`${given.program}?${count}`)
  // A new process would exit here, because nothing is pending.
  await once(process, 'beforeExit')
  process.channel?.ref()
  await endConnections()
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString()
  const ended: Ended = { code: Number(process.exitCode ?? 0), out: text(out), err: text(err) }
  process.exitCode = undefined
  process.send?.(ended)
})

const into = (chunks: Buffer[]) =>
  new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })

function use(streams: Record<'stdin' | 'stdout' | 'stderr', object>): void {
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true })
}

/** Closes connections like the end of a process, so that the next command line opens its own. */
async function endConnections(): Promise<void> {
  const agent = Symbol.for('undici.globalDispatcher.1')
  const all = globalThis as { [agent]?: { destroy(): Promise<void>; constructor: new () => never } }
  const used = all[agent]
  if (!used) return
  all[agent] = new (used.constructor as new () => never)()
  await used.destroy()
}
