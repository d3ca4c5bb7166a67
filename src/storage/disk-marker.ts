import { link, open, readdir, readFile, unlink } from 'node:fs/promises'
import { codeOf, fileMode, ifThere, syncFolder, uniqueName } from './files.ts'
import { ForeignStore } from './store.ts'

/** The marker file that names the installation to which a folder of blobs belongs. */
const markerOf = (dir: string) => `${dir}/installation`

/** The installation of a folder; undefined when it has none. */
export const readMarker = async (dir: string): Promise<string | undefined> =>
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
export async function bindFolder(dir: string, id: string, inUse: boolean): Promise<void> {
  if ((await readMarker(dir)) === undefined) {
    if (inUse)
      throw new ForeignStore(
        `${dir} does not hold the files that the database knows. Mount the volume that holds them, or name their folder`,
      )
    if ((await readdir(`${dir}/blobs`)).length > 0)
      throw new ForeignStore(`${dir} holds files of unknown origin. Name an empty folder`)
    await writeMarker(dir, id)
  }
  if ((await readMarker(dir)) !== id)
    throw new ForeignStore(
      `${dir} belongs to a Satchel with another database. Set the database that it belongs to, or name an empty folder`,
    )
}
