import { batchSeen } from './batch.ts'
import { Download } from './download.ts'
import { Disposition } from './enums.ts'
import { Node } from './node.ts'
import { Preview, previewOf } from './preview.ts'
import { Entry, File } from './refs.ts'

const noteOf = batchSeen(({ notes }, caller, checksums) => notes.ofContents(caller, checksums))

File.implement({
  description: 'A file.',
  interfaces: [Node, Entry],
  fields: t => ({
    contentType: t.exposeString('contentType', { description: 'Its media type.' }),
    md5: t.exposeString('md5', {
      description: 'MD5 of its bytes in lower-case hex. Notes belong to it.',
    }),
    modifiedAt: t.expose('modifiedAt', {
      type: 'DateTime',
      description:
        'When its content was last modified, as reported by the client; otherwise, when it was uploaded.',
    }),
    note: t.withAuth({ drive: 'read' }).string({
      nullable: true,
      description:
        "The caller's note on this content, empty if there is none; null in workspaces, which have no notes.",
      resolve: async ({ md5 }, _args, context) =>
        context.drive.workspace ? null : ((await noteOf(context, md5)) ?? ''),
    }),
    preview: t.withAuth({ drive: 'read' }).field({
      type: Preview,
      nullable: true,
      description: 'Its preview; null for kinds or sizes of files without previews.',
      resolve: (file, _args, context) => previewOf(context, file),
    }),
    download: t.withAuth({ drive: 'read' }).field({
      type: Download,
      description: 'A signed URL for its bytes.',
      args: {
        disposition: t.arg({
          type: Disposition,
          defaultValue: 'download',
          description: 'What a browser does with it.',
        }),
      },
      resolve: ({ blobId, contentType, ...file }, { disposition }, { services }) =>
        services.downloads.link(
          { ...file, fileType: contentType, blobId: blobId ?? '' },
          disposition ?? 'download',
        ),
    }),
  }),
})
