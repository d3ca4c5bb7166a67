import { InvalidInput } from '../runtime/errors.ts'
import type { ShareLinkService } from '../services/sharing/share-link.ts'
import type { UploadSessionService } from '../services/uploads/upload-session.ts'
import { readRaw } from './body.ts'
import { sendFile } from './bytes.ts'
import type { Incoming } from './incoming.ts'
import { type DoorPlan, nothingHere, openPassage, passage } from './threshold.ts'
import { write } from './write.ts'

const PREFIX = '/api/blobs'

/** The parts of a path: `/api/blobs/<token>` or `/api/blobs/<token>/<number>`. */
const partsOf = ({ path }: Incoming): string[] => path.slice(PREFIX.length + 1).split('/')

/**
 * Serves the URLs that the service signs, whose token grants access to one thing.
 * `/api/blobs/<token>` sends the bytes of a file, and `/api/blobs/<token>/<number>` receives a part
 * of an upload.
 */
export function signedBlobs({
  shareLinks,
  uploadSessions,
}: {
  shareLinks: ShareLinkService
  uploadSessions: UploadSessionService
}): DoorPlan {
  const download = openPassage(PREFIX, async incoming => {
    const [token = ''] = partsOf(incoming)
    await sendFile(incoming, await shareLinks.openAddress(token))
  })

  const part = passage({
    route: PREFIX,
    methods: ['PUT'],
    guards: 'nothing',
    // The token identifies its creator, so the body counts against the creator's limits.
    async caller(incoming) {
      const [token = ''] = partsOf(incoming)
      const { id, tree, maker } = uploadSessions.unseal(token)
      return { id, tree, userId: maker }
    },
    body: 'part',
    writes: true,
    async handle(incoming, { id, tree, userId }) {
      const { req, res } = incoming
      const [, number = ''] = partsOf(incoming)
      if (!/^[1-9]\d{0,5}$/.test(number))
        throw new InvalidInput('part_number', 'The numbers of parts start at 1.')
      const { 'content-md5': header } = req.headers
      const contentMd5 = typeof header === 'string' ? header : undefined
      await uploadSessions.addPart(tree, {
        id,
        by: userId,
        number: Number(number),
        part: readRaw(req),
        contentMd5,
      })
      write(res, req, { status: 201, headers: { 'cache-control': 'no-store' }, body: '' })
    },
  })

  return {
    prefix: PREFIX,
    find(incoming) {
      const [token, number] = partsOf(incoming)
      if (!token) throw nothingHere()
      return number === undefined ? download : part
    },
  }
}
