import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'
import { readSearch as readFilesSearch } from '../files/search.ts'
import { readSearch } from './search.ts'

const received = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared',
  component: lazyRouteComponent(() => import('./received.tsx'), 'Received'),
  validateSearch: readSearch,
})

const folder = {
  getParentRoute: () => rootRoute,
  component: lazyRouteComponent(() => import('./shared-files.tsx'), 'SharedFiles'),
  validateSearch: readFilesSearch,
}

/** The list of received shares, and the screen of one shared folder. */
export const receivedRoutes = [
  received,
  createRoute({ ...folder, path: '/shared/$share' }),
  createRoute({ ...folder, path: '/shared/$share/$' }),
] as const
