import { link, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { Unavailable } from '../runtime/errors.ts'
import { codeOf, fileMode, folderMode, ifThere, syncFolder, uniqueName } from './files.ts'
import { judgeMarker, markerText, parseMarker, type Wanted } from './marker.ts'
import { ForeignStore, type Marker } from './store.ts'

/** The marker file that names the installation to which a folder of blobs belongs. */
const markerOf = (dir: string) => `${dir}/installation`

/** Reads the marker of a folder; undefined if it has none. */
const readMarker = async (dir: string): Promise<Marker | undefined> => {
  const text = await ifThere(readFile(markerOf(dir), 'utf8'))
  return text === undefined ? undefined : parseMarker(text)
}

/**
 * Renames the marker into place once it is complete. Another instance may be first.
 * @param replaces whether it replaces another marker
 */
async function writeMarker(dir: string, marker: Marker, replaces = false): Promise<void> {
  const draft = `${dir}/.${uniqueName()}`
  const file = await open(draft, 'wx', fileMode)
  try {
    await file.writeFile(markerText(marker))
    await file.sync()
  } finally {
    await file.close()
  }
  if (replaces) {
    await rename(draft, markerOf(dir))
    return syncFolder(dir)
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
async function bindFolder(dir: string, wanted: Wanted): Promise<void> {
  if (!(await readMarker(dir))) {
    if (wanted.inUse)
      throw new ForeignStore(
        `${dir} does not contain the files of the database. Mount the volume that contains them, or name their folder`,
      )
    if (((await ifThere(readdir(`${dir}/blobs`))) ?? []).length > 0)
      throw new ForeignStore(`${dir} contains files of unknown origin. Name an empty folder`)
    await writeMarker(dir, wanted)
  }
  const there = (await readMarker(dir)) ?? { installation: '', number: 0 }
  if (judgeMarker(there, wanted, dir, 'folder')) await writeMarker(dir, wanted, true)
}

/**
 * The folder of an installation, which may be on a mounted volume. Without the volume, the mount
 * point is an empty folder of another disk.
 */
export interface Volume {
  /**
   * Verifies that this is the right folder before creating anything in it.
   * @throws ForeignStore
   */
  bind(wanted: Wanted): Promise<void>
  marker(): Promise<Marker | undefined>
  /**
   * Call it before a write, and before treating a missing file as removed.
   * @throws Unavailable if another volume is mounted now
   */
  check(): Promise<void>
}

export function openVolume(dir: string, folders: string[]): Volume {
  let bound: Wanted | undefined
  let known: { dev: number; ino: number } | undefined

  return {
    async bind(wanted) {
      await bindFolder(dir, wanted)
      for (const folder of folders) await mkdir(folder, { recursive: true, mode: folderMode })
      await syncFolder(dir)
      bound = wanted
    },

    marker: () => readMarker(dir),

    async check() {
      if (!bound) return
      const there = await ifThere(stat(markerOf(dir)))
      if (there && there.dev === known?.dev && there.ino === known.ino) return
      // A remounted volume may have another device number.
      if (!there || (await readMarker(dir))?.installation !== bound.installation)
        throw new Unavailable(
          'blob store',
          new Error(`${dir} is no longer the folder of the start.`),
        )
      known = { dev: there.dev, ino: there.ino }
    },
  }
}
