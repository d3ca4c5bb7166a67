import './developers.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { NewKey } from '../../keys/new-key.tsx'
import { privateScopes } from '../../keys/scopes.ts'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/command.tsx'
import { Plus } from '../../parts/icons.ts'
import { Rows } from '../../parts/rows.tsx'
import { Screen, Section } from '../../parts/screen.tsx'
import { examplesAt } from './examples.ts'
import { text } from './text.ts'

/** Whether the service offers GraphiQL, according to a meta tag of the page. */
const hasGraphiql =
  document.querySelector('meta[name=graphiql]')?.getAttribute('content') === 'true'

/** API endpoints, and the key that programs need. */
export function Developers() {
  const [isCreating, setCreating] = useState(false)
  const { origin } = location
  return (
    <Screen title={text('developers')}>
      <Section
        title={text('key')}
        hint={text('keyHint')}
        actions={
          <Button look="primary" onPress={() => setCreating(true)}>
            <Plus />
            {text('createKey')}
          </Button>
        }
      >
        <p>
          <Link to="/account/keys">{text('allKeys')}</Link>
        </p>
      </Section>
      <Section title={text('interfaces')} hint={text('interfacesHint')}>
        <Rows label={text('interfaces')}>
          <Endpoint
            title={text('rest')}
            url={`${origin}/api`}
            hint={text('restHint')}
            action={{ label: text('openReference'), href: '/api/docs' }}
          />
          <Endpoint
            title={text('document')}
            url={`${origin}/api/openapi.json`}
            hint={text('documentHint')}
            action={{ label: text('openDocument'), href: '/api/openapi.json' }}
          />
          <Endpoint
            title={text('graphql')}
            url={`${origin}/graphql`}
            hint={
              hasGraphiql ? text('graphqlHint') : `${text('graphqlHint')} ${text('noGraphiql')}`
            }
            action={hasGraphiql ? { label: text('openGraphiql'), href: '/graphql' } : null}
          />
          <Endpoint title="WebDAV" url={`${origin}/dav/`} hint={text('davHint')} action={null} />
          <Endpoint title="tus" url={`${origin}/api/tus`} hint={text('tusHint')} action={null} />
        </Rows>
      </Section>
      <Section title={text('examples')} hint={text('examplesHint')}>
        {examplesAt(origin).map(example => (
          <Command key={example.title} {...example} />
        ))}
      </Section>
      {isCreating && (
        <NewKey
          scopes={privateScopes}
          workspace={null}
          onCreated={() => {}}
          onClose={() => setCreating(false)}
        />
      )}
    </Screen>
  )
}

interface EndpointProps {
  title: string
  url: string
  hint: string
  /** Link to a page of its own. */
  action: { label: string; href: string } | null
}

const Endpoint = ({ title, url, hint, action }: EndpointProps) => (
  <li>
    <div className="grow">
      <h3 className="title">{title}</h3>
      <code className="endpoint">{url}</code>
      <p className="sub">{hint}</p>
    </div>
    {action && (
      <a className="button plain" href={action.href}>
        {action.label}
      </a>
    )}
  </li>
)
