import { layouts, tileSizes } from '../db/models/user.ts'
import type { FilesView as View } from '../src/services/accounts/files-view.ts'
import { builder } from './builder.ts'
import { enumOf } from './enums.ts'
import { EntrySort, SortDirection } from './folder.ts'
import { mutation } from './mutation.ts'
import { Viewer, viewerField } from './viewer.ts'

const FilesLayout = enumOf('FilesLayout', 'How a list of files is laid out.', layouts)

const TileSize = enumOf('TileSize', 'The size of tiles.', tileSizes)

const FilesView = builder.objectRef<View>('FilesView').implement({
  description: 'How a person wants lists of files to be shown.',
  fields: t => ({
    layout: t.expose('layout', { type: FilesLayout, description: 'The layout.' }),
    tileSize: t.expose('tileSize', { type: TileSize, description: 'The size of tiles.' }),
    sort: t.expose('sort', {
      type: EntrySort,
      description: 'The field by which entries are sorted.',
    }),
    direction: t.expose('direction', { type: SortDirection, description: 'The direction.' }),
  }),
})

builder.objectField(Viewer, 'filesView', t =>
  t.withAuth({ privateFiles: 'read' }).field({
    type: FilesView,
    description:
      'How the caller wants lists of files to be shown. Clients follow it, so that a choice holds on every device.',
    resolve: (_viewer, _args, { services, caller }) => services.filesViews.read(caller),
  }),
)

mutation('setFilesView', {
  description: 'Sets how the caller wants lists of files to be shown.',
  auth: { privateFiles: 'write' },
  fails: [],
  input: t => ({
    layout: t.field({ type: FilesLayout, required: true, description: 'The layout.' }),
    tileSize: t.field({ type: TileSize, required: true, description: 'The size of tiles.' }),
    sort: t.field({
      type: EntrySort,
      required: true,
      description: 'The field by which entries are sorted.',
    }),
    direction: t.field({ type: SortDirection, required: true, description: 'The direction.' }),
  }),
  resolve: async (view, { services, caller }) => {
    await services.filesViews.remember(caller, view)
    return {}
  },
  payload: t => ({ viewer: viewerField(t) }),
})
