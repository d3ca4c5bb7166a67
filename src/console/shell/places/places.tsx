import './places.css'
import { Link } from '@tanstack/react-router'
import { useQuery } from 'urql'
import { hrefOf } from '../../drive/place.ts'
import { Favourites } from '../../favourites/list.tsx'
import { graphql } from '../../graphql/graphql.ts'
import { formatBytes } from '../../i18n/format.ts'
import { UsersRound } from '../../parts/icons.ts'
import type { Me } from '../me.ts'
import { text } from './text.ts'

/** The same list as on the screen of workspaces, so the cache keeps both up to date. */
const WORKSPACES = graphql(`
  query NavigationWorkspaces {
    me {
      id
      workspaces(first: 1000) {
        nodes {
          id
          name
          slug
        }
      }
    }
  }
`)

/** The screen of workspaces lists the others. */
const SHOWN = 12

/** The part of the sidebar below the screens: workspaces, favourites and the storage used. */
export const Places = ({ me }: { me: Me }) => (
  <>
    <div className="places">
      <Workspaces />
      <Favourites />
    </div>
    <Usage me={me} />
  </>
)

function Workspaces() {
  const [{ data }] = useQuery({ query: WORKSPACES, requestPolicy: 'cache-and-network' })
  const workspaces = data?.me.workspaces?.nodes ?? []
  if (workspaces.length === 0) return null
  return (
    <div className="favourites">
      <h2 id="navigation-workspaces">{text('workspaces')}</h2>
      <ul aria-labelledby="navigation-workspaces">
        {workspaces.slice(0, SHOWN).map(({ id, name, slug }) => (
          <li key={id}>
            <Link
              to={hrefOf({ workspace: slug, path: '' })}
              activeOptions={{ includeSearch: false }}
              className="favourite place"
            >
              <UsersRound aria-hidden />
              <span className="favourite-name" dir="auto">
                {name}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The share of the storage from which the bar warns. The home page of the service has the same. */
const NEARLY_FULL = 0.9

function Usage({ me: { drive } }: { me: Me }) {
  const { usedBytes, maxBytes } = drive.usage
  const share = maxBytes > 0 ? Math.min(1, usedBytes / maxBytes) : 1
  const label = text('storage', { used: formatBytes(usedBytes), max: formatBytes(maxBytes) })
  const state = share >= 1 ? 'full' : share >= NEARLY_FULL ? 'nearly' : ''
  return (
    <div className={`usage ${state}`}>
      <progress max={1} value={share} aria-label={label} />
      <p aria-hidden>{label}</p>
      {state && <p>{text(state === 'full' ? 'full' : 'nearlyFull')}</p>}
    </div>
  )
}
