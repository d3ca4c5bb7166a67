import { createHash } from 'node:crypto'
import { access, type FileHandle, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { eventually, isLocked, locked } from './file-lock.ts'
import { codeOf, fileMode, ifThere, makeFolder, onDisk, syncFolder, uniqueName, writeAt } from './files.ts'
import { BlobMissing, BytesDiffer, type PartOptions, StoreRefusal } from './store.ts'

/*
 * The folder of an upload in parts:
 *   data         the blob as it will be, each part at its offset; moved away when the parts are committed
 *   index        8 bytes a part: its size once its bytes in `data` are durable
 *   7.<id>.in    part 7 while it arrives: a broken transfer touches nothing else
 *   7.redo       part 7 sent again, durable: `data` may be half old and half new there, until it is copied
 *   7.lock       held while part 7 is copied into `data`; commit.lock while the parts become a blob
 */

const recordSize = 8
const mask = 0xa5a5a5a5
const copySize = 1024 * 1024

const record = (size: number): Buffer => {
  const bytes = Buffer.alloc(recordSize)
  bytes.writeUInt32LE(size, 0)
  bytes.writeUInt32LE((size ^ mask) >>> 0, 4)
  return bytes
}

const sizeIn = (bytes: Buffer, at: number): number => {
  const size = bytes.readUInt32LE(at)
  return bytes.readUInt32LE(at + 4) === (size ^ mask) >>> 0 ? size : 0
}

async function isReceived(dir: string, number: number): Promise<boolean> {
  const index = await ifThere(open(`${dir}/index`, 'r'))
  if (!index) return false
  try {
    const bytes = Buffer.alloc(recordSize)
    await index.read(bytes, 0, recordSize, (number - 1) * recordSize)
    return sizeIn(bytes, 0) > 0
  } finally {
    await index.close()
  }
}

async function readIndex(dir: string): Promise<Map<number, number> | undefined> {
  const bytes = await ifThere(readFile(`${dir}/index`))
  if (!bytes) return undefined
  const parts = new Map<number, number>()
  for (let at = 0; at + recordSize <= bytes.length; at += recordSize) {
    const size = sizeIn(bytes, at)
    if (size > 0) parts.set(at / recordSize + 1, size)
  }
  return parts
}

const isThere = async (path: string) => (await ifThere(access(path).then(() => true))) ?? false

async function opened<T>(path: string, flags: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags, fileMode)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/** Opens a file for writing at any offset, and creates it if it is missing; safe for parallel callers. */
async function openForParts(path: string): Promise<FileHandle> {
  for (;;) {
    const there = await ifThere(open(path, 'r+'))
    if (there) return there
    try {
      return await open(path, 'wx+', fileMode)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

/** Writes a whole source to a file. @throws BytesDiffer, and errors of the source */
async function spool(path: string, source: AsyncIterable<Uint8Array>, { size, sum }: PartOptions): Promise<void> {
  const hash = sum === undefined ? undefined : createHash('md5')
  const file = await onDisk(() => open(path, 'wx', fileMode))
  try {
    let at = 0
    for await (const chunk of source) {
      hash?.update(chunk)
      const position = at
      await onDisk(() => writeAt(file, chunk, position))
      at += chunk.length
    }
    if (at !== size) throw new TypeError(`A part of ${size} bytes arrived with ${at} bytes.`)
    if (hash && hash.digest('hex') !== sum) throw new BytesDiffer()
  } finally {
    await file.close()
  }
}

async function copyInto(data: FileHandle, from: string, offset: number): Promise<void> {
  await opened(from, 'r', async source => {
    const memory = Buffer.allocUnsafe(copySize)
    for (let at = 0; ; ) {
      const { bytesRead } = await source.read(memory, 0, copySize, at)
      if (bytesRead === 0) return
      await writeAt(data, memory.subarray(0, bytesRead), offset + at)
      at += bytesRead
    }
  })
}

/** `<number>.<offset>.redo`, so that any instance can finish it. */
const redoName = (number: number, offset: number) => `${number}.${offset}.redo`

async function finishRedo(dir: string, name: string): Promise<void> {
  const offset = Number(name.split('.')[1])
  await opened(`${dir}/data`, 'r+', async data => {
    await copyInto(data, `${dir}/${name}`, offset)
    await data.datasync()
  })
  await unlink(`${dir}/${name}`)
}

/** Copies a received part to its offset, under its lock. */
async function settlePart(dir: string, spooled: string, number: number, { size, offset }: PartOptions): Promise<void> {
  await locked(`${dir}/${number}.lock`, async held => {
    // A commit waits for the existing locks, and prevents new ones.
    await eventually(async () => !(await isLocked(`${dir}/commit.lock`)))
    if (await isReceived(dir, number)) {
      await opened(spooled, 'r', file => file.datasync())
      await rename(spooled, `${dir}/${redoName(number, offset)}`)
      await syncFolder(dir)
      // Parts that have been committed are assembled again by the next commit.
      if (await isThere(`${dir}/data`)) await finishRedo(dir, redoName(number, offset))
      return
    }
    const data = await openForParts(`${dir}/data`)
    try {
      await copyInto(data, spooled, offset)
      await data.datasync()
    } finally {
      await data.close()
    }
    await held()
    const index = await openForParts(`${dir}/index`)
    try {
      await writeAt(index, record(size), (number - 1) * recordSize)
      await index.datasync()
    } finally {
      await index.close()
    }
    await syncFolder(dir)
  })
}

/** @param parent the folder of all drafts, which must exist */
export async function stagePart(
  parent: string,
  key: string,
  number: number,
  source: AsyncIterable<Uint8Array>,
  options: PartOptions,
): Promise<void> {
  const dir = `${parent}/${key}`
  const steps = source[Symbol.asyncIterator]()
  const spooled = `${dir}/${number}.${uniqueName()}.in`
  try {
    await onDisk(async () => {
      if (await makeFolder(dir)) await syncFolder(parent)
    })
    await spool(spooled, { [Symbol.asyncIterator]: () => ({ next: () => steps.next() }) }, options)
    await onDisk(() => settlePart(dir, spooled, number, options))
  } finally {
    // It never waits for its next bytes here, and must have let go of the request before that is answered.
    await Promise.resolve(steps.return?.()).catch(() => {})
    await unlink(spooled).catch(() => {})
  }
}

export const partsIn = (dir: string): Promise<Map<number, number>> =>
  onDisk(async () => (await readIndex(dir)) ?? new Map<number, number>())

/**
 * Assembles the parts into one file. Only parts that were sent again after an earlier commit are copied.
 * @param blob path of the blob, if the parts were committed before
 * @param place moves the file to that path
 */
export async function commitParts(
  { dir, key, blob, count }: { dir: string; key: string; blob: string; count: number },
  place: (file: string) => Promise<boolean>,
): Promise<void> {
  if (count === 0) await onDisk(() => makeFolder(dir))
  else if (!(await onDisk(() => isThere(dir)))) throw new StoreRefusal(404, 'There are no parts.')
  await onDisk(() =>
    locked(`${dir}/commit.lock`, async held => {
      const names = await readdir(dir)
      const others = names.filter(name => /^\d+\.lock$/.test(name))
      await eventually(async () => !(await Promise.all(others.map(name => isLocked(`${dir}/${name}`)))).includes(true))
      const data = `${dir}/data`
      const redos = (await readdir(dir)).filter(name => name.endsWith('.redo'))
      const parts = (await readIndex(dir)) ?? new Map<number, number>()
      let size = 0
      for (let number = 1; number <= count; number++) {
        const bytes = parts.get(number)
        if (bytes === undefined) throw new StoreRefusal(400, `Part ${number} has not arrived.`)
        size += bytes
      }
      if (!(await isThere(data))) {
        const made = await isThere(blob)
        if (!made && count > 0) throw new BlobMissing(key)
        if (made && redos.length === 0) return
        if (made) await rename(blob, data)
        else await (await openForParts(data)).close()
      }
      for (const name of redos) await finishRedo(dir, name)
      await opened(data, 'r+', async file => {
        if ((await file.stat()).size !== size) await file.truncate(size)
        await file.sync()
      })
      await held()
      if (!(await place(data))) throw new BlobMissing(key)
      await syncFolder(dir)
    }),
  )
}

/** Removes the partial files of instances that died. @returns whether the parts have been assembled into a blob */
export async function tidyParts(dir: string, cutOffMs: number): Promise<boolean> {
  const names = (await ifThere(readdir(dir))) ?? []
  for (const name of names.filter(each => each.endsWith('.in'))) {
    const there = await ifThere(stat(`${dir}/${name}`))
    if (there && Date.now() - there.mtimeMs > cutOffMs) await ifThere(unlink(`${dir}/${name}`))
  }
  return !names.includes('data')
}
