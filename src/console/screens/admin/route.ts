import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { MAX_NAME_PART } from '../../parts/limits.ts'
import { rootRoute } from '../../shell/route.ts'
import type { AuditSearch } from './audit/search.ts'
import type { GrantsSearch } from './grants/search.ts'

const getParentRoute = () => rootRoute

/** The screens for operators. The service refuses their queries to everyone else. */
export const adminRoutes = [
  createRoute({
    getParentRoute,
    path: '/admin',
    component: lazyRouteComponent(() => import('./accounts.tsx'), 'Accounts'),
    validateSearch: ({ q, over }: Record<string, unknown>): { q?: string; over?: true } => ({
      ...(q ? { q: String(q).slice(0, MAX_NAME_PART) } : {}),
      ...(over ? { over: true } : {}),
    }),
  }),
  createRoute({
    getParentRoute,
    path: '/admin/accounts/$id',
    component: lazyRouteComponent(() => import('./account.tsx'), 'Account'),
  }),
  createRoute({
    getParentRoute,
    path: '/admin/status',
    component: lazyRouteComponent(() => import('./status/status.tsx'), 'Status'),
  }),
  createRoute({
    getParentRoute,
    path: '/admin/plans',
    component: lazyRouteComponent(() => import('./plans.tsx'), 'Plans'),
  }),
  createRoute({
    getParentRoute,
    path: '/admin/storage',
    component: lazyRouteComponent(() => import('./storage.tsx'), 'Storage'),
  }),
  createRoute({
    getParentRoute,
    path: '/admin/shares',
    component: lazyRouteComponent(() => import('./grants/grants.tsx'), 'Grants'),
    // The screen validates this.
    validateSearch: (given: Record<string, unknown>) => given as GrantsSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/admin/audit',
    component: lazyRouteComponent(() => import('./audit/audit.tsx'), 'Audit'),
    // The screen validates this, to keep the list of event kinds out of the first bundle.
    validateSearch: (given: Record<string, unknown>) => given as AuditSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/admin/service',
    component: lazyRouteComponent(() => import('./service.tsx'), 'Service'),
  }),
] as const
