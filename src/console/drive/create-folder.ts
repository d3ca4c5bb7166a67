import { Refused } from '../graphql/errors.ts'
import { mutate } from '../graphql/run.ts'
import { CREATE_FOLDER } from '../screens/files/on-demand/documents.ts'
import { nameFrom } from './names.ts'
import { join } from './place.ts'

/**
 * Creates a folder, and returns its name.
 *
 * @param where the drive, or the share that lets the person edit
 * @param parent path of the parent folder
 * @throws Refused, and the error of `nameFrom`
 */
export async function createFolder(
  { drive, isShared }: { drive: string; isShared: boolean },
  parent: string,
  typed: string,
): Promise<string> {
  const name = nameFrom(typed)
  await mutate(CREATE_FOLDER, { input: { at: { drive, path: join(parent, name) } }, isShared })
  return name
}

/** Like `createFolder`, but accepts a folder that exists already. */
export async function ensureFolder(...args: Parameters<typeof createFolder>): Promise<void> {
  try {
    await createFolder(...args)
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'PATH_EXISTS')) throw error
  }
}
