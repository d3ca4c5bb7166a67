import { AppError, Unauthenticated } from '../errors.ts'
import type { Viewer } from './viewer.ts'

/** Levels of the private_files scope: contract, section 2. */
export type PrivateFiles = 'read' | 'write' | 'delete' | 'share'

/** Whether the caller may use personal routes of a level. @throws UNAUTHENTICATED */
export function mayUsePrivateFiles(viewer: Viewer | null, _level: PrivateFiles): true {
  if (!viewer) throw new Unauthenticated()
  return true
}

/** Whether the caller has signed in as a person. No key may do what needs this. @throws UNAUTHENTICATED, KEY_OUT_OF_BOUNDS */
export function hasSession(viewer: Viewer | null): true {
  if (!viewer) throw new Unauthenticated()
  if (viewer.via !== 'session') throw new AppError('KEY_OUT_OF_BOUNDS', 'No API key can do this. Sign in instead.')
  return true
}
