import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import { NotFound } from './not-found.tsx'
import { Shell } from './shell.tsx'

/** The parent of all screens. */
export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound })

export const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/files', replace: true })
  },
})
