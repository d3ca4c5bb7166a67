import './maintenance.css'
import { formatExact } from '../i18n/format.ts'
import { Clock } from '../parts/icons.ts'
import { useMaintenance } from './current.ts'
import { text } from './text.ts'

/** Announces that nothing can be changed, and until when. */
export function MaintenanceBanner() {
  const [maintenance] = useMaintenance()
  return (
    <div role="status">
      {maintenance && (
        <div className="maintenance">
          <Clock aria-hidden />
          <p>
            <strong>{text('banner', { until: formatExact(maintenance.endsAt) })}</strong>{' '}
            {maintenance.message && (
              <>
                <bdi>{maintenance.message}</bdi>{' '}
              </>
            )}
            {text('hint')}
          </p>
        </div>
      )}
    </div>
  )
}
