import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, writeFile } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip, createGzip } from 'node:zlib'
import { codeOf, fileMode } from '../storage/files.ts'
import { BackupError } from './problem.ts'

/** Compressed files of JSON lines, and their SHA-256. */

/**
 * Writes texts that end with a newline, and syncs the file.
 * @returns the SHA-256 of the file in lower-case hex
 */
export async function writeLines(path: string, texts: AsyncIterable<string>): Promise<string> {
  const hash = createHash('sha256')
  const file = createWriteStream(path, { mode: fileMode, flush: true })
  await pipeline(texts, createGzip({ level: 3 }), passing(hash), file)
  return hash.digest('hex')
}

/**
 * Reads the values of such a file in constant memory.
 * @param gzip false for an uncompressed file
 */
export async function* readLines<T>(path: string, { gzip = true } = {}): AsyncGenerator<T> {
  const file = createReadStream(path)
  const source: Readable = gzip ? file.pipe(createGunzip()) : file
  // A pipe does not forward errors.
  file.on('error', error => source.destroy(error))
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of source) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as T
  }
  // Ignore an incomplete last line, which a killed process left.
}

/** @returns the SHA-256 of a file in lower-case hex */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk)
  return hash.digest('hex')
}

/** The system cannot read one file of a backup. Other backups may be intact. */
const unreadable = (path: string, error: unknown): unknown =>
  codeOf(error)
    ? new BackupError(
        `${path} cannot be read (${codeOf(error)}), so this backup cannot be restored. Use another one.`,
        {
          cause: error,
        },
      )
    : error

/** Compares a file with its digest. @throws BackupError */
export async function requireIntact(path: string, sha256: string): Promise<void> {
  const found = await digestOf(path).catch(error => {
    if (error.code === 'ENOENT')
      throw new BackupError(
        `${path} is missing, so this backup cannot be restored. Use another one.`,
      )
    throw unreadable(path, error)
  })
  if (found !== sha256)
    throw new BackupError(
      `${path} has changed since it was written, so this backup cannot be restored. Use another one.`,
    )
}

/** Writes a small file, and its digest beside it in the format of sha256sum. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: fileMode, flush: true })
  const sum = createHash('sha256').update(text).digest('hex')
  await writeFile(`${path}.sha256`, `${sum}  ${path.slice(path.lastIndexOf('/') + 1)}\n`, {
    mode: fileMode,
    flush: true,
  })
}

/** @throws BackupError for a file that has changed since it was written */
export async function readWhole(path: string): Promise<string> {
  try {
    const sum = await readFile(`${path}.sha256`, 'utf8')
    await requireIntact(path, sum.slice(0, 64))
    return await readFile(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Opens a file for appending lines, which are synced when the call resolves. */
export async function openAppender(path: string) {
  const file = await open(path, 'a', fileMode)
  return {
    async append(values: object[]): Promise<void> {
      if (values.length === 0) return
      await file.appendFile(values.map(value => `${JSON.stringify(value)}\n`).join(''))
      await file.datasync()
    },
    close: () => file.close(),
  }
}

function passing(hash: Hash): PassThrough {
  const stream = new PassThrough()
  stream.on('data', chunk => hash.update(chunk))
  stream.pause()
  return stream
}
