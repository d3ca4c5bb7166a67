import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { PlaceParams } from '../../drive/place.ts'
import { rootRoute } from '../../shell/route.ts'
import { Files } from './files.tsx'
import { type FilesSearch, readSearch } from './search.ts'
import { readFolderAhead } from './use-folder.ts'
import { withView } from './view.ts'

const screen = {
  getParentRoute: () => rootRoute,
  // Not lazy, unlike the other screens, because most people see this one first.
  component: Files,
  validateSearch: readSearch,
  loaderDeps: ({ search: { sort, desc, tags } }: { search: FilesSearch }) => ({ sort, desc, tags }),
  loader: ({ params, deps }: { params: PlaceParams; deps: FilesSearch }) =>
    readFolderAhead(params, withView(deps)),
  // The screen keeps its list current by itself.
  shouldReload: false,
}

const ofWorkspace = {
  ...screen,
  component: lazyRouteComponent(
    () => import('../workspaces/workspace-files.tsx'),
    'WorkspaceFiles',
  ),
}

/** The files of the person and of workspaces: one screen for all drives. */
export const filesRoutes = [
  createRoute({ ...screen, path: '/files' }),
  createRoute({ ...screen, path: '/files/$' }),
  createRoute({ ...ofWorkspace, path: '/workspaces/$slug/files' }),
  createRoute({ ...ofWorkspace, path: '/workspaces/$slug/files/$' }),
] as const
