import { digestsOf } from '../../upload-engine/digests.ts'
import type { Aim, SessionStore, Source } from '../../upload-engine/job.ts'
import { upload } from '../../upload-engine/upload.ts'
import { Failure } from '../failure.ts'
import { joinPath } from '../path.ts'
import type { Body } from './local-file.ts'
import { transportOf } from './transport.ts'
import type { Target } from './upload-target.ts'

export interface Stored {
  /** Differs from the target's name if both files are kept. */
  name: string
  size: number
  md5Checksum: string
  /** `unchanged`: the service had the same content under this name already. */
  status: 'uploaded' | 'unchanged'
}

export const pathOf = ({ folder, name }: Pick<Target, 'folder' | 'name'>): string =>
  joinPath(folder, name)

export const aimOf = ({ folder, name: fileName }: Target): Aim => ({ folder, fileName })

export const pathExists = (target: Target): Failure => {
  const path = target.place.show(pathOf(target))
  return new Failure(
    'PATH_EXISTS',
    `${path} exists with other content. Choose another --name, --replace it, or --keep-both.`,
    {
      path,
    },
  )
}

/**
 * Uploads a source.
 *
 * @param sessions stores the state of a multipart upload
 */
export async function uploadTo(
  target: Target,
  source: Source<Body>,
  sessions: SessionStore,
): Promise<Stored> {
  const { place, progress, parts: limit } = target
  const { fileName, size, md5, status } = await upload({
    source,
    digests: digestsOf(source),
    aim: aimOf(target),
    transport: transportOf(target),
    sessions,
    progress,
    limit,
    patience: place.client.patience,
  })
  return { name: fileName, size, md5Checksum: md5, status }
}
