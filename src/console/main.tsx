import './style/index.css'
import { StrictMode } from 'react'
import { isRTL } from 'react-aria-components'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { followSignIn } from './graphql/session.ts'
import { language, locale } from './i18n/language.ts'
import './shell/theme.ts'
import { preloadMenus } from './parts/menu.tsx'
import { stayForDrops } from './uploads/files-dragged.ts'

document.documentElement.lang = language
document.documentElement.dir = isRTL(locale) ? 'rtl' : 'ltr'
stayForDrops()

// After an update of the service, an open tab asks for files that are gone: load the new ones, once.
window.addEventListener('vite:preloadError', event => {
  if (performance.now() < 10_000) return
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
// Keeps the files of the console, so that it opens without the network. Some browsers refuse it in private windows.
window.addEventListener('load', () => void navigator.serviceWorker?.register('/service-worker.js').catch(() => {}))
