import './offline.css'
import { useEffect, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { RefreshCw } from '../parts/icons.ts'
import { outage } from './outage.ts'
import { text } from './text.ts'

const HOUR_MS = 3_600_000
/** The build of this page. */
const own = document.querySelector<HTMLMetaElement>('meta[name="version"]')?.content

/**
 * Offers a reload when the service has a newer console. Until then, the service worker serves the
 * old files.
 */
export function NewVersion() {
  const [isNew, setNew] = useState(false)
  const isOut = outage.use() !== null
  useEffect(() => {
    const worker = navigator.serviceWorker
    if (!worker) return
    const tell = () => worker.controller?.postMessage({ runs: own })
    const hear = ({ data }: MessageEvent) => {
      if (data?.version === undefined) return
      setNew(data.version !== own)
      tell()
    }
    worker.addEventListener('message', hear)
    tell()
    return () => worker.removeEventListener('message', hear)
  }, [])
  useEffect(() => {
    if (isOut) return
    // Browsers check for updates when a page loads, but a tab may stay open for weeks.
    const look = () => {
      if (!document.hidden)
        void navigator.serviceWorker
          ?.getRegistration()
          .then(registration => registration?.update())
          .catch(() => {})
    }
    look()
    const timer = setInterval(look, HOUR_MS)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [isOut])
  return (
    <div role="status">
      {isNew && (
        <div className="offline">
          <RefreshCw aria-hidden />
          <p>{text('newVersion')}</p>
          <Button look="ghost" onPress={() => location.reload()}>
            {text('reload')}
          </Button>
        </div>
      )}
    </div>
  )
}
