import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { formatNumber } from '../i18n/format.ts'
import { Ellipsis } from '../parts/icons.ts'
import { Menu } from '../parts/menu.tsx'
import { optional } from '../parts/optional.tsx'
import { useDestinations } from './destinations.ts'
import type { Me } from './me.ts'
import { text } from './text.ts'

/** The navigation works without this part. */
const Places = optional(
  () => import('./places/places.tsx').then(({ Places }) => Places),
  () => null,
)

/** The navigation: a sidebar, or a bottom bar on small screens. */
export function Navigation({ me }: { me: Me | undefined }) {
  const destinations = useDestinations()
  return (
    <nav className="navigation" aria-label={text('navigation')}>
      <ul>
        {destinations.map(({ to, label, short, icon: Icon, badge, foot, footOnly }) => {
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
            <li key={to} className={footOnly ? 'narrow' : foot ? undefined : 'wide'}>
              <Link to={to} activeOptions={{ includeSearch: false }} className="destination">
                {content}
              </Link>
            </li>
          )
        })}
        <li className="narrow">
          <More me={me} />
        </li>
      </ul>
      {me && <Places me={me} />}
    </nav>
  )
}

/** The menu of items that do not fit into the bottom bar. */
function More({ me }: { me: Me | undefined }) {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const others = useDestinations().filter(({ foot }) => !foot)
  const isHere = others.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`))
  const count = me ? others.reduce((sum, { badge }) => sum + (badge?.(me) ?? 0), 0) : 0
  return (
    <Menu
      label={count > 0 ? `${text('more')}, ${text('unseen', { count })}` : text('more')}
      button={{ look: 'ghost', className: `destination${isHere ? ' active' : ''}` }}
      placement="top end"
      entries={others.map(({ to, label, icon }) => ({
        id: to,
        label,
        icon,
        run: () => void navigate({ to }),
      }))}
    >
      <Ellipsis aria-hidden />
      <span className="short-label">{text('more')}</span>
      {count > 0 && (
        <span className="badge" aria-hidden>
          {formatNumber(count)}
        </span>
      )}
    </Menu>
  )
}
