import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'

const getParentRoute = () => rootRoute

/** The activity screens of the person's drive and of a workspace. */
export const activityRoutes = [
  createRoute({
    getParentRoute,
    path: '/activity',
    component: lazyRouteComponent(() => import('./activity.tsx'), 'Activity'),
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug/activity',
    component: lazyRouteComponent(
      () => import('../workspaces/workspace-activity.tsx'),
      'WorkspaceActivity',
    ),
  }),
] as const
