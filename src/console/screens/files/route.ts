import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'
import { readSearch } from './search.ts'

const screen = {
  getParentRoute: () => rootRoute,
  component: lazyRouteComponent(() => import('./files.tsx'), 'Files'),
  validateSearch: readSearch,
}

const ofWorkspace = {
  ...screen,
  component: lazyRouteComponent(() => import('../workspaces/workspace-files.tsx'), 'WorkspaceFiles'),
}

/** The files of the person, and those of a workspace: one screen, on another drive. */
export const filesRoutes = [
  createRoute({ ...screen, path: '/files' }),
  createRoute({ ...screen, path: '/files/$' }),
  createRoute({ ...ofWorkspace, path: '/workspaces/$slug/files' }),
  createRoute({ ...ofWorkspace, path: '/workspaces/$slug/files/$' }),
] as const
