import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'
import { readSearch } from '../files/search.ts'

const screen = { getParentRoute: () => rootRoute, validateSearch: readSearch }

/** The galleries of the person's drive and of workspaces. */
export const galleryRoutes = [
  createRoute({
    ...screen,
    path: '/pictures',
    component: lazyRouteComponent(() => import('./gallery.tsx'), 'Gallery'),
  }),
  createRoute({
    ...screen,
    path: '/workspaces/$slug/pictures',
    component: lazyRouteComponent(
      () => import('../workspaces/workspace-gallery.tsx'),
      'WorkspaceGallery',
    ),
  }),
] as const
