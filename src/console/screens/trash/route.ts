import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'

const getParentRoute = () => rootRoute

/** The trash of the person's drive and of workspaces. */
export const trashRoutes = [
  createRoute({
    getParentRoute,
    path: '/trash',
    component: lazyRouteComponent(() => import('./trash.tsx'), 'Trash'),
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug/trash',
    component: lazyRouteComponent(
      () => import('../workspaces/workspace-trash.tsx'),
      'WorkspaceTrash',
    ),
  }),
] as const
