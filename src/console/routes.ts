import { accountRoutes } from './screens/account/route.ts'
import { activityRoutes } from './screens/activity/route.ts'
import { adminRoutes } from './screens/admin/route.ts'
import { connectRoute } from './screens/connect/route.ts'
import { developersRoute } from './screens/developers/route.ts'
import { filesRoutes } from './screens/files/route.ts'
import { galleryRoutes } from './screens/gallery/route.ts'
import { homeRoute } from './screens/home/route.ts'
import { linksRoute } from './screens/links/route.ts'
import { receivedRoutes } from './screens/received/route.ts'
import { requestsRoute } from './screens/requests/route.ts'
import { searchRoute } from './screens/search/route.ts'
import { trashRoutes } from './screens/trash/route.ts'
import { workspacesRoutes } from './screens/workspaces/route.ts'
import { indexRoute, rootRoute } from './shell/route.ts'

/**
 * All screens. A new screen needs a line here, and one in shell/destinations.ts to appear in the
 * navigation.
 */
export const routeTree = rootRoute.addChildren([
  indexRoute,
  ...filesRoutes,
  ...trashRoutes,
  ...galleryRoutes,
  homeRoute,
  linksRoute,
  requestsRoute,
  searchRoute,
  ...receivedRoutes,
  ...activityRoutes,
  ...accountRoutes,
  ...workspacesRoutes,
  ...adminRoutes,
  connectRoute,
  developersRoute,
])
