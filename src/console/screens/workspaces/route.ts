import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'

const getParentRoute = () => rootRoute

/** The list of workspaces, and the screens of one workspace besides its files. */
export const workspacesRoutes = [
  createRoute({
    getParentRoute,
    path: '/workspaces',
    component: lazyRouteComponent(() => import('./workspaces.tsx'), 'Workspaces'),
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug',
    beforeLoad: ({ params }) => {
      throw redirect({ to: '/workspaces/$slug/files', params, replace: true })
    },
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug/members',
    component: lazyRouteComponent(() => import('./members.tsx'), 'Members'),
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug/keys',
    component: lazyRouteComponent(() => import('./workspace-keys.tsx'), 'WorkspaceKeys'),
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug/webhooks',
    component: lazyRouteComponent(() => import('./workspace-webhooks.tsx'), 'WorkspaceWebhooks'),
  }),
  createRoute({
    getParentRoute,
    path: '/workspaces/$slug/settings',
    component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings'),
  }),
] as const
