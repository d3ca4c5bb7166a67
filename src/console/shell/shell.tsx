import { Link, Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useLayoutEffect } from 'react'
import { brand } from '../parts/brand.ts'
import { Skeleton } from '../parts/states.tsx'
import { Toasts } from '../parts/toasts.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Logo } from './logo.tsx'
import { useMe } from './me.ts'
import { Navigation } from './navigation.tsx'
import { PaletteButton } from './palette-button.tsx'
import { SearchField } from './search-field.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { text } from './text.ts'

const Live = lazy(() => import('./live.ts').then(({ Live }) => ({ default: Live })))
const OfflineBanner = lazy(() =>
  import('../offline/banner.tsx').then(({ OfflineBanner }) => ({ default: OfflineBanner })),
)
const MaintenanceBanner = lazy(() =>
  import('../maintenance/banner.tsx').then(({ MaintenanceBanner }) => ({
    default: MaintenanceBanner,
  })),
)
const NewVersion = lazy(() =>
  import('../offline/new-version.tsx').then(({ NewVersion }) => ({ default: NewVersion })),
)
const OverQuota = lazy(() =>
  import('./over-quota.tsx').then(({ OverQuota }) => ({ default: OverQuota })),
)
const Uploads = lazy(() =>
  import('../uploads/uploads.tsx').then(({ Uploads }) => ({ default: Uploads })),
)

/** The frame of every screen. */
export function Shell() {
  const me = useMe()
  // The frame in the page has stood in for this one.
  useLayoutEffect(() => document.querySelector('.frame')?.remove(), [])
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {text('skip')}
      </a>
      <header className="top">
        <Link to="/start" className="brand" aria-label={brand.name}>
          <Logo />
          <span>{brand.name}</span>
        </Link>
        <SearchField />
        <PaletteButton me={me} />
        {me && <AccountMenu me={me} />}
      </header>
      <Navigation me={me} />
      <main id="content" tabIndex={-1}>
        <Suspense>
          <OfflineBanner />
          <MaintenanceBanner />
          {me?.drive.usage.isOver && <OverQuota />}
          <NewVersion />
        </Suspense>
        <Suspense fallback={<Skeleton />}>
          <Outlet />
        </Suspense>
      </main>
      {me && (
        <Suspense>
          <Live person={me.id} />
          <Uploads person={me.id} drive={me.drive.id} />
        </Suspense>
      )}
      <Shortcuts />
      <Toasts />
    </div>
  )
}
