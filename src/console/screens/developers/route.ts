import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'

/** The screen for people who write programs for the service. */
export const developersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/developers',
  component: lazyRouteComponent(() => import('./developers.tsx'), 'Developers'),
})
