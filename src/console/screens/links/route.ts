import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'
import { readSearch } from './search.ts'

/** The screen of the person's own shares. */
export const linksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/links',
  component: lazyRouteComponent(() => import('./links.tsx'), 'Links'),
  validateSearch: readSearch,
})
