import type { PreviewedFile, PreviewSize, PreviewView } from '../src/services/tree/preview.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import { enumOf } from './enums.ts'
import type { EntryNode } from './refs.ts'

const PreviewState = enumOf<PreviewView['state']>('PreviewState', 'Whether a preview can be shown.', [
  'waiting',
  'made',
  'failed',
])

const Size = builder.enumType('PreviewSize', {
  description: 'The size of a preview.',
  values: {
    SMALL: { value: 'small', description: 'At most 256 pixels on its longest side, for lists.' },
    LARGE: { value: 'large', description: 'At most 1,280 pixels on its longest side.' },
  } as const satisfies Record<string, { value: PreviewSize; description: string }>,
})

export interface PreviewNode extends PreviewView {
  file: EntryNode
}

const byFile = batch<[], PreviewView>(async ({ services }, keys) => {
  const files = keys.map((key): PreviewedFile => JSON.parse(key))
  const found = await services.previews.ofFiles(files)
  return new Map(
    keys.flatMap((key, i) => {
      const view = found.get(files[i]?.blobId ?? '')
      return view ? [[key, view] as const] : []
    }),
  )
})

/** The preview of a file; null if there is none of files of its kind. */
export async function previewOf(context: Context, file: EntryNode): Promise<PreviewNode | null> {
  const { blobId, contentType: fileType, size } = file
  if (!blobId || !context.services.previews.isFor({ fileType, size })) return null
  const view = await byFile(context, JSON.stringify({ blobId, fileType, size }))
  return view ? { ...view, file } : null
}

export const Preview = builder.objectRef<PreviewNode>('Preview').implement({
  description:
    'A small picture of a file (a picture, the first page of a PDF document, a frame of a video), and what is known of the original.',
  fields: t => ({
    state: t.expose('state', { type: PreviewState, description: 'Whether it can be shown.' }),
    url: t.field({
      type: 'URL',
      nullable: true,
      description:
        'Its URL, for the session or the key of the caller: it stays the same as long as the content does. Null if it cannot be shown.',
      args: { size: t.arg({ type: Size, defaultValue: 'small', description: 'Which size.' }) },
      resolve: ({ file, version }, { size }, { services }) =>
        version === null
          ? null
          : services.previews.addressOf(file, file.drive.workspace?.id ?? null, version, size ?? 'small'),
    }),
    placeholder: t.exposeString('placeholder', {
      nullable: true,
      description: 'A ThumbHash in base64: what to show until the picture is there.',
    }),
    width: t.exposeInt('width', {
      nullable: true,
      description: 'Width of the original in pixels; of a PDF document, in points.',
    }),
    height: t.exposeInt('height', {
      nullable: true,
      description: 'Height of the original in pixels; of a PDF document, in points.',
    }),
    takenAt: t.expose('takenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a camera took it; a time without a zone counts as one in UTC.',
    }),
  }),
})
