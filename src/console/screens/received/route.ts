import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'
import { readSearch } from './search.ts'

/** What others have shared with the person. */
export const receivedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared',
  component: lazyRouteComponent(() => import('./received.tsx'), 'Received'),
  validateSearch: readSearch,
})
