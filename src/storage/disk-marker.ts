import { link, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import { Unavailable } from '../runtime/errors.ts'
import { codeOf, fileMode, folderMode, ifThere, syncFolder, uniqueName } from './files.ts'
import { ForeignStore } from './store.ts'

/** The marker file that names the installation to which a folder of blobs belongs. */
const markerOf = (dir: string) => `${dir}/installation`

/** The installation of a folder; undefined when it has none. */
const readMarker = async (dir: string): Promise<string | undefined> =>
  (await ifThere(readFile(markerOf(dir), 'utf8')))?.trim()

/** Linked when it is whole, so that it is never half there; another instance may be first. */
async function writeMarker(dir: string, id: string): Promise<void> {
  const draft = `${dir}/.${uniqueName()}`
  const file = await open(draft, 'wx', fileMode)
  try {
    await file.writeFile(`${id}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, markerOf(dir)).catch(error => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await unlink(draft)
  }
  await syncFolder(dir)
}

/** @throws ForeignStore */
async function bindFolder(dir: string, id: string, inUse: boolean): Promise<void> {
  if ((await readMarker(dir)) === undefined) {
    if (inUse)
      throw new ForeignStore(
        `${dir} does not contain the files of the database. Mount the volume that contains them, or name their folder`,
      )
    if (((await ifThere(readdir(`${dir}/blobs`))) ?? []).length > 0)
      throw new ForeignStore(`${dir} contains files of unknown origin. Name an empty folder`)
    await writeMarker(dir, id)
  }
  if ((await readMarker(dir)) !== id)
    throw new ForeignStore(
      `${dir} belongs to a Satchel with another database. Set the database that it belongs to, or name an empty folder`,
    )
}

/** The folder of an installation, which may be a volume: without it, its mount point is a bare folder of another disk. */
export interface Volume {
  /** Makes the folders in it only when it is known to be the right one. @throws ForeignStore */
  bind(id: string, inUse: boolean): Promise<void>
  /** Asked before a write, and before what is missing is taken for removed. @throws Unavailable when it is another one by now */
  check(): Promise<void>
}

export function openVolume(dir: string, folders: string[]): Volume {
  let installation: string | undefined
  let known: { dev: number; ino: number } | undefined

  return {
    async bind(id, inUse) {
      await bindFolder(dir, id, inUse)
      for (const folder of folders) await mkdir(folder, { recursive: true, mode: folderMode })
      await syncFolder(dir)
      installation = id
    },

    async check() {
      if (installation === undefined) return
      const there = await ifThere(stat(markerOf(dir)))
      if (there && there.dev === known?.dev && there.ino === known.ino) return
      // A volume that was mounted again may have another number.
      if (!there || (await readMarker(dir)) !== installation)
        throw new Unavailable('blob store', new Error(`${dir} is no longer the folder of the start.`))
      known = { dev: there.dev, ino: there.ino }
    },
  }
}
