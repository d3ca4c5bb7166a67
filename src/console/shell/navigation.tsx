import { Link } from '@tanstack/react-router'
import { formatBytes, formatNumber } from '../i18n/format.ts'
import { optional } from '../parts/optional.tsx'
import { useDestinations } from './destinations.ts'
import type { Me } from './me.ts'
import { text } from './text.ts'

/** Without them, the navigation is the same. */
const Favourites = optional(
  () => import('../favourites/list.tsx').then(({ Favourites }) => Favourites),
  () => null,
)

/** Where one can go: beside the content, or at the foot of a small screen. */
export function Navigation({ me }: { me: Me | undefined }) {
  const destinations = useDestinations()
  return (
    <nav className="navigation" aria-label={text('navigation')}>
      <ul>
        {destinations.map(({ to, label, short, icon: Icon, badge, wide }) => {
          const count = me && badge ? badge(me) : 0
          const content = (
            <>
              <Icon aria-hidden />
              <span className="label">{label}</span>
              <span className="short-label">{short}</span>
              {count > 0 && (
                <span className="badge">
                  <span aria-hidden>{formatNumber(count)}</span>
                  <span className="sr">{text('unseen', { count })}</span>
                </span>
              )}
            </>
          )
          return (
            <li key={to} className={wide && 'wide'}>
              <Link to={to} activeOptions={{ includeSearch: false }} className="destination">
                {content}
              </Link>
            </li>
          )
        })}
      </ul>
      {me && <Favourites />}
      {me && <Usage me={me} />}
    </nav>
  )
}

function Usage({ me: { drive } }: { me: Me }) {
  const { usedBytes, maxBytes } = drive.usage
  const share = maxBytes > 0 ? Math.min(1, usedBytes / maxBytes) : 1
  const label = text('storage', { used: formatBytes(usedBytes), max: formatBytes(maxBytes) })
  return (
    <div className={`usage${share > 0.9 ? ' full' : ''}`}>
      <progress max={1} value={share} aria-label={label} />
      <p aria-hidden>{label}</p>
    </div>
  )
}
