import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../shell/route.ts'

const getParentRoute = () => rootRoute

/** The screens of the signed-in person's account. */
export const accountRoutes = [
  createRoute({
    getParentRoute,
    path: '/account',
    component: lazyRouteComponent(() => import('./profile.tsx'), 'Profile'),
  }),
  createRoute({
    getParentRoute,
    path: '/account/sign-in',
    component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
  }),
  createRoute({
    getParentRoute,
    path: '/account/keys',
    component: lazyRouteComponent(() => import('./account-keys.tsx'), 'AccountKeys'),
  }),
  createRoute({
    getParentRoute,
    path: '/account/webhooks',
    component: lazyRouteComponent(() => import('./account-webhooks.tsx'), 'AccountWebhooks'),
  }),
] as const
