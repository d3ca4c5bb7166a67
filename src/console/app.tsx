import { createRouter, RouterProvider } from '@tanstack/react-router'
import { RouterProvider as AriaRouter, I18nProvider } from 'react-aria-components'
import { Provider } from 'urql'
import { client } from './graphql/client.ts'
import { locale } from './i18n/language.ts'
import { ErrorState, Skeleton } from './parts/states.tsx'
import { routeTree } from './routes.ts'

const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultPendingComponent: Skeleton,
  defaultErrorComponent: ({ error, reset }) => <ErrorState error={error as Error} retry={reset} />,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** The console: GraphQL client, language and screens. */
export const App = () => (
  <Provider value={client}>
    <I18nProvider locale={locale}>
      <AriaRouter navigate={to => void router.navigate({ href: to })}>
        <RouterProvider router={router} />
      </AriaRouter>
    </I18nProvider>
  </Provider>
)
