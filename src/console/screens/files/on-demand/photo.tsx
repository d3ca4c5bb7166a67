import { type ReactNode, useEffect } from 'react'
import { useQuery } from 'urql'
import { graphql, type ResultOf } from '../../../graphql/graphql.ts'
import { formatNumber } from '../../../i18n/format.ts'
import { locale } from '../../../i18n/language.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { MapPin } from '../../../parts/icons.ts'
import { text } from './text.ts'

const PHOTO = graphql(`
  query Photo($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on File {
        preview {
          state
          width
          height
          takenAt
          photo {
            camera
            lens
            exposureSeconds
            aperture
            iso
            focalLength
            zoneMinutes
            place {
              latitude
              longitude
            }
          }
        }
      }
    }
  }
`)

type PreviewOf<N> = N extends { preview: infer P } ? NonNullable<P> : never
type Preview = PreviewOf<NonNullable<ResultOf<typeof PHOTO>['node']>>
type Photo = NonNullable<Preview['photo']>

/** Polling interval while a preview is being made. */
const AGAIN_MS = 2000

// Cameras store local time without a time zone, so it is shown as stored.
const byItsClock = new Intl.DateTimeFormat(locale, {
  dateStyle: 'full',
  timeStyle: 'short',
  timeZone: 'UTC',
})
const ofDegrees = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 5,
  maximumFractionDigits: 5,
})
const short = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
const asSeconds = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })

const momentOf = (takenAt: string, photo: Photo | null): string =>
  byItsClock.format(Date.parse(takenAt) + (photo?.zoneMinutes ?? 0) * 60_000)

/** Exposure time in the usual notation: 1/250 s. */
const timeOf = (seconds: number): string =>
  text('seconds', {
    time: seconds < 0.3 ? `1/${formatNumber(Math.round(1 / seconds))}` : asSeconds.format(seconds),
  })

const exposureOf = ({ exposureSeconds, aperture, iso, focalLength }: Photo): string =>
  [
    exposureSeconds !== null && timeOf(exposureSeconds),
    aperture !== null && `ƒ/${short.format(aperture)}`,
    iso !== null && `ISO ${Math.round(iso)}`,
    focalLength !== null && `${short.format(focalLength)} mm`,
  ]
    .filter(part => part !== false)
    .join(' · ')

const degreesOf = (value: number, positive: string, negative: string): string =>
  `${ofDegrees.format(Math.abs(value))}° ${value < 0 ? negative : positive}`

/** Coordinates for display. Copying uses plain numbers, which every map understands. */
const shownPlace = ({ latitude, longitude }: NonNullable<Photo['place']>): string =>
  `${degreesOf(latitude, 'N', 'S')}, ${degreesOf(longitude, text('east'), 'W')}`

/** A map of the place. Nothing is sent to its service until the person follows the link. */
const mapOf = ({ latitude, longitude }: NonNullable<Photo['place']>): string => {
  const at = new URLSearchParams({ mlat: String(latitude), mlon: String(longitude) })
  return `https://www.openstreetmap.org/?${at}#map=15/${latitude}/${longitude}`
}

/** The metadata of a photo as rows. The place is text with a link, and no map is loaded. */
export function PhotoFacts({ id, saysNone = false }: { id: string; saysNone?: boolean }) {
  const [{ data }, reload] = useQuery({
    query: PHOTO,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const preview =
    data?.node?.__typename === 'File' && data.node.id === id ? data.node.preview : undefined
  const isWaiting = preview?.state === 'WAITING'
  useEffect(() => {
    if (!isWaiting) return
    const timer = setInterval(() => reload({ requestPolicy: 'network-only' }), AGAIN_MS)
    return () => clearInterval(timer)
  }, [isWaiting, reload])
  if (preview === undefined || isWaiting) return null
  const { width = null, height = null, takenAt = null, photo = null } = preview ?? {}
  if (width === null && takenAt === null && photo === null)
    return saysNone && <Row label={text('photoDetails')}>{text('noPhotoDetails')}</Row>
  const exposure = photo && exposureOf(photo)
  return (
    <>
      {width !== null && height !== null && (
        <Row label={text('dimensions')}>{text('pixels', { width, height })}</Row>
      )}
      {takenAt !== null && <Row label={text('takenAt')}>{momentOf(takenAt, photo)}</Row>}
      {photo?.camera && <Row label={text('camera')}>{photo.camera}</Row>}
      {photo?.lens && <Row label={text('lens')}>{photo.lens}</Row>}
      {exposure && <Row label={text('exposure')}>{exposure}</Row>}
      {photo?.place && (
        <Row label={text('place')}>
          <span className="place">
            {shownPlace(photo.place)}
            <CopyButton
              value={`${photo.place.latitude}, ${photo.place.longitude}`}
              label={text('copyPlace')}
            />
            <a className="link" href={mapOf(photo.place)} target="_blank" rel="noopener noreferrer">
              <MapPin aria-hidden />
              {text('showOnMap')}
            </a>
          </span>
        </Row>
      )}
    </>
  )
}

const Row = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd dir="auto">{children}</dd>
  </div>
)
