import type { PreviewedFile, PreviewSize } from '../src/services/tree/preview.ts'
import type { Photo, PreviewView } from '../src/services/tree/preview-view.ts'
import { batch } from './batch.ts'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import { enumOf } from './enums.ts'
import type { EntryNode } from './refs.ts'

const PreviewState = enumOf<PreviewView['state']>(
  'PreviewState',
  'Whether a preview can be shown.',
  ['waiting', 'made', 'failed'],
)

const Size = builder.enumType('PreviewSize', {
  description: 'The size of a preview.',
  values: {
    SMALL: { value: 'small', description: 'At most 256 pixels on its longest side, for lists.' },
    LARGE: { value: 'large', description: 'At most 1,280 pixels on its longest side.' },
  } as const satisfies Record<string, { value: PreviewSize; description: string }>,
})

/** The preview with its file. */
class PreviewNode {
  readonly view: PreviewView
  readonly file: EntryNode

  constructor(view: PreviewView, file: EntryNode) {
    this.view = view
    this.file = file
  }
}

const PhotoPlace = builder.objectRef<NonNullable<Photo['place']>>('PhotoPlace').implement({
  description: 'Where a picture was taken, according to its metadata.',
  fields: t => ({
    latitude: t.exposeFloat('latitude', {
      description: 'Degrees north of the equator; negative in the south.',
    }),
    longitude: t.exposeFloat('longitude', {
      description: 'Degrees east of Greenwich; negative in the west.',
    }),
  }),
})

const PhotoDetails = builder.objectRef<Photo>('PhotoDetails').implement({
  description:
    'How and where a picture was taken (Exif). Fields that the picture does not contain are null.',
  fields: t => ({
    camera: t.exposeString('camera', {
      nullable: true,
      description: 'Maker and model of the camera.',
    }),
    lens: t.exposeString('lens', { nullable: true, description: 'The lens.' }),
    exposureSeconds: t.exposeFloat('exposureSeconds', {
      nullable: true,
      description: 'The exposure in seconds.',
    }),
    aperture: t.exposeFloat('aperture', { nullable: true, description: 'The f-number.' }),
    iso: t.exposeFloat('iso', { nullable: true, description: 'The sensitivity.' }),
    focalLength: t.exposeFloat('focalLength', {
      nullable: true,
      description: 'The focal length in millimetres.',
    }),
    zoneMinutes: t.exposeInt('zoneMinutes', {
      nullable: true,
      description: "How many minutes the camera's clock was ahead of UTC.",
    }),
    place: t.expose('place', {
      type: PhotoPlace,
      nullable: true,
      description: 'Where it was taken.',
    }),
  }),
})

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

/**
 * The URL of the thumbnail of a shared file; null if there is none, or none yet.
 * @param page the page of the share
 */
export async function sharedPicture(
  context: Context,
  { blobId, fileType, size }: { blobId: string | null; fileType: string; size: number },
  page: string,
): Promise<string | null> {
  if (!blobId || !context.services.previews.isFor({ fileType, size })) return null
  const version = (await byFile(context, JSON.stringify({ blobId, fileType, size })))?.version
  return version ? `${page}/preview?small=${version}` : null
}

/** The preview of a file; null for files of a kind without previews. */
export async function previewOf(context: Context, file: EntryNode): Promise<PreviewNode | null> {
  const { blobId, contentType: fileType, size } = file
  if (!blobId || !context.services.previews.isFor({ fileType, size })) return null
  const view = await byFile(context, JSON.stringify({ blobId, fileType, size }))
  return view ? new PreviewNode(view, file) : null
}

export const Preview = builder.objectRef<PreviewNode>('Preview').implement({
  description:
    'A thumbnail of a file (a picture, the first page of a PDF document, a frame of a video), and details of the original.',
  fields: t => ({
    state: t.field({
      type: PreviewState,
      description: 'Whether it can be shown.',
      resolve: ({ view }) => view.state,
    }),
    url: t.field({
      type: 'URL',
      nullable: true,
      description:
        'Its URL, for the session or the key of the caller. It changes only with the content. Null if there is nothing to show.',
      args: { size: t.arg({ type: Size, defaultValue: 'small', description: 'The size.' }) },
      resolve: ({ file, view: { version } }, { size }, { services }) =>
        version === null
          ? null
          : services.previews.addressOf(
              file,
              file.drive.workspace?.id ?? null,
              version,
              size ?? 'small',
            ),
    }),
    placeholder: t.string({
      nullable: true,
      description: 'A ThumbHash in base64: a placeholder to show until the picture has loaded.',
      resolve: ({ view }) => view.placeholder,
    }),
    width: t.int({
      nullable: true,
      description: 'Width of the original in pixels; of a PDF document, in points.',
      resolve: ({ view }) => view.width,
    }),
    height: t.int({
      nullable: true,
      description: 'Height of the original in pixels; of a PDF document, in points.',
      resolve: ({ view }) => view.height,
    }),
    takenAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When a camera took it; a time without a zone counts as UTC.',
      resolve: ({ view }) => view.takenAt,
    }),
    photo: t.field({
      type: PhotoDetails,
      nullable: true,
      description:
        'Camera, exposure and place from the metadata of the picture; null if it contains none of them.',
      resolve: ({ view }) => view.photo,
    }),
  }),
})
