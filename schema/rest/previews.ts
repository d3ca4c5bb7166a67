import { AppError, InvalidInput } from '../../src/runtime/errors.ts'
import type { PreviewSize } from '../../src/services/tree/preview.ts'
import { ID } from './examples.ts'
import { operation as ofOwnFiles } from './files.ts'
import { declareForOwners } from './owners.ts'

const sizes = ['small', 'large'] as const satisfies PreviewSize[]

declareForOwners(ofOwnFiles, ({ base, whose, operation, name, denied }) => {
  operation(`GET ${base}/files/preview`, name('', 'FilePreview'), {
    description: `A small picture of a file of ${whose}, as WebP: of a picture, of the first page of a PDF document, or of a video. Clients may keep it for a day if \`version\` is that of its content, and else must ask again whether it has changed.`,
    auth: { drive: 'read' },
    statuses: [400, 401, ...denied, 404],
    fails: ['FILE_NOT_FOUND'],
    args: arg => ({
      file_id: arg.id({ required: true, description: 'The id of the file.' }),
      size: arg.string({
        description: 'Its longest side: `small` has 256 pixels (the default), `large` 1,280.',
        example: 'large',
        bounds: { enum: sizes },
      }),
      version: arg.string({
        description:
          'The version of the content, as in the URLs of listings. It decides how long the response may be cached, not which content it shows.',
        example: ID,
      }),
    }),
    type: 'Picture',
    resolve: async ({ file_id: id, size, version }, { services, tree }) => {
      const file = await services.listings.entry(tree, { id })
      const chosen = sizes.find(one => one === (size ?? 'small'))
      if (!chosen) throw new InvalidInput('size', 'The size must be small or large.')
      const { blobId, names } = file ?? {}
      const picture =
        file &&
        blobId &&
        (await services.previews.open(
          { ...file, blobId, name: names?.at(-1) ?? '' },
          { size: chosen, version: version ?? null },
        ))
      if (!picture)
        throw new AppError(
          'FILE_NOT_FOUND',
          'There is no preview of such a file. One that is being made is there in a few seconds.',
        )
      return picture
    },
  })
})
