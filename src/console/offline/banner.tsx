import './offline.css'
import { useEffect } from 'react'
import { formatMoment } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { CloudOff } from '../parts/icons.ts'
import { lookAgain, outage } from './outage.ts'
import { text } from './text.ts'

const PAUSE_MS = 5000

/** Announces that the service is unreachable and how old the data is. Checks whether it is back. */
export function OfflineBanner() {
  const now = outage.use()
  const isOut = now !== null
  useEffect(() => {
    if (!isOut) return
    const look = () => void lookAgain()
    const timer = setInterval(look, PAUSE_MS)
    window.addEventListener('online', look)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', look)
    }
  }, [isOut])
  return (
    <div role="status">
      {now && (
        <div className="offline">
          <CloudOff aria-hidden />
          <p>
            <strong>{text('offline')}</strong>{' '}
            {text('readAt', { time: formatMoment(new Date(now.readAt).toISOString()) })}
          </p>
          <Button look="ghost" onPress={() => void lookAgain()}>
            {text('retry')}
          </Button>
        </div>
      )}
    </div>
  )
}
