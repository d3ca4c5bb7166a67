import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'
import { readSearch } from './address.ts'

/** The search over all drives and received shares. */
export const searchRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/search',
  component: lazyRouteComponent(() => import('./search.tsx'), 'Search'),
  validateSearch: readSearch,
})
