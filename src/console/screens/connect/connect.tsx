import './connect.css'
import { Link, useNavigate } from '@tanstack/react-router'
import { encodeQR } from 'qr'
import { Button } from '../../parts/button.tsx'
import { CopyField } from '../../parts/copy-field.tsx'
import { Screen, Section } from '../../parts/screen.tsx'
import { runOffer } from '../../shell/offers.ts'
import { text } from './text.ts'

/** Whether the service offers the protocol of the apps, according to a meta tag of the page. */
const hasApps = document.querySelector('meta[name=apps]')?.getAttribute('content') === 'true'

const steps = [text('stepInstall'), text('stepAddress'), text('stepApprove')]
const works = [
  text('worksSync'),
  text('worksCamera'),
  text('worksShared'),
  text('worksTrash'),
  text('worksLinks'),
]
const lacks = [text('lacksWorkspaces'), text('lacksPeople'), text('lacksEncryption')]

/** How to connect phones and computers: by the apps of Nextcloud and ownCloud, or by WebDAV. */
export function Connect() {
  const navigate = useNavigate()
  return (
    <Screen title={text('connect')}>
      {hasApps && (
        <>
          <Section title={text('apps')} hint={text('appsHint')}>
            <ol className="connect-list">
              {steps.map(step => (
                <li key={step}>{step}</li>
              ))}
            </ol>
            <CopyField label={text('address')} value={location.origin} />
            <p className="hint">{text('scan')}</p>
            <Code of={location.origin} />
          </Section>
          <Section title={text('works')}>
            <List items={works} />
          </Section>
          <Section title={text('lacks')} hint={text('untried')}>
            <List items={lacks} />
          </Section>
        </>
      )}
      <Section
        title={text('programs')}
        hint={text('programsHint')}
        actions={
          <Button
            onPress={() => {
              void navigate({ to: '/account/keys' })
              runOffer('connect')
            }}
          >
            {text('createPassword')}
          </Button>
        }
      />
      <Section title={text('connected')} hint={text('connectedHint')}>
        <p>
          <Link to="/account/keys">{text('allKeys')}</Link>
        </p>
      </Section>
    </Screen>
  )
}

const List = ({ items }: { items: readonly string[] }) => (
  <ul className="connect-list">
    {items.map(item => (
      <li key={item}>{item}</li>
    ))}
  </ul>
)

/** The address as a QR code, for the camera of a phone. */
function Code({ of }: { of: string }) {
  const modules = encodeQR(of, 'raw', { ecc: 'medium', border: 4 })
  const path = modules
    .flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return (
    <svg
      className="connect-code"
      viewBox={`0 0 ${modules.length} ${modules.length}`}
      role="img"
      aria-label={text('codeOf', { address: of })}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  )
}
