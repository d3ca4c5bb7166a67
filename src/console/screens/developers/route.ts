import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'

/** For who writes programs against the service. */
export const developersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/developers',
  component: lazyRouteComponent(() => import('./developers.tsx'), 'Developers'),
})
