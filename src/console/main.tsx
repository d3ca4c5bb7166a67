import './style/index.css'
import { StrictMode } from 'react'
import { isRTL } from 'react-aria-components'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { followSignIn } from './graphql/session.ts'
import { language, locale } from './i18n/language.ts'
import './shell/theme.ts'
import { keepEarlyKeys } from './parts/early-keys.ts'
import { ofTab } from './parts/memory.ts'
import { preloadMenus } from './parts/menu.tsx'
import { isFetchingOptional } from './parts/optional.tsx'
import { stayForDrops } from './uploads/files-dragged.ts'

document.documentElement.lang = language
document.documentElement.dir = isRTL(locale) ? 'rtl' : 'ltr'
stayForDrops()
keepEarlyKeys()

// After an update of the service, an open tab may request files that no longer exist. Reloading
// fixes that. If it fails again, something blocks the file. Not every browser reports which one.
window.addEventListener('vite:preloadError', event => {
  const reloaded = `satchel.reloaded-for ${import.meta.url} ${event.payload}`
  if (isFetchingOptional() || performance.now() < 10_000 || ofTab.read(reloaded)) return
  ofTab.write(reloaded, 'yes')
  // Without session storage, the page would reload forever.
  if (!ofTab.read(reloaded)) return
  event.preventDefault()
  location.reload()
})

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )

preloadMenus()

followSignIn()
// The service worker caches the console for offline use. Some browsers refuse it in private
// windows.
window.addEventListener(
  'load',
  () => void navigator.serviceWorker?.register('/service-worker.js').catch(() => {}),
)
