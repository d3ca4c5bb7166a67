import { useState } from 'react'
import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { mutate } from '../graphql/run.ts'
import type { PagedList } from '../graphql/use-pages.ts'
import { formatExact } from '../i18n/format.ts'
import { formatRelative } from '../i18n/times.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { KeyRound, Plus, Smartphone } from '../parts/icons.ts'
import { personName } from '../parts/person-name.ts'
import { Rows } from '../parts/rows.tsx'
import { Section } from '../parts/screen.tsx'
import { ShowMore } from '../parts/show-more.tsx'
import { EmptyState } from '../parts/states.tsx'
import { toastError } from '../parts/toasts.tsx'
import { useOffers } from '../shell/offers.ts'
import { ConnectDevice } from './connect-device.tsx'
import { NewKey } from './new-key.tsx'
import { type Scope, scopeText } from './scopes.ts'
import { text } from './text.ts'

/** A list of keys, with the same fields for persons and workspaces. */
export const KEYS = graphql(`
  fragment Keys on ApiKeyConnection {
    nodes {
      id
      name
      description
      status
      scopes
      hint
      createdAt
      lastUsedAt
      expiresAt
      createdBy {
        id
        name
        email
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`)

const DELETE_KEY = graphql(`
  mutation DeleteKey($input: DeleteApiKeyInput!) {
    deleteApiKey(input: $input) {
      deletedId
    }
  }
`)

type Key = ResultOf<typeof KEYS>['nodes'][number]

interface KeysProps {
  hint: string
  keys: PagedList<Key, unknown>
  /** The most keys allowed. */
  max: number
  /** The scopes that a key here can have. */
  scopes: readonly Scope[]
  /** The workspace that owns the keys; null for the person's own keys. */
  workspace: { id: string; slug: string } | null
}

/** API keys: scopes, last use, create, revoke. */
export function Keys({ hint, keys, max, scopes, workspace }: KeysProps) {
  const [isCreating, setCreating] = useState(false)
  const [isConnecting, setConnecting] = useState(false)
  const [revoking, setRevoking] = useState<Key | null>(null)
  const revoke = async ({ id }: Key) => {
    await mutate(DELETE_KEY, { input: { apiKey: id } })
    keys.refresh()
  }
  const isFull = keys.entries.length >= max
  useOffers(() =>
    isFull
      ? []
      : [
          { id: 'new-key', label: text('create'), icon: KeyRound, run: () => setCreating(true) },
          {
            id: workspace ? 'connect-workspace' : 'connect',
            label: text('connect'),
            icon: Smartphone,
            run: () => setConnecting(true),
          },
        ],
  )
  const create = (
    <div className="row-end">
      <Button isDisabled={isFull} onPress={() => setConnecting(true)}>
        <Smartphone />
        {text('connect')}
      </Button>
      <Button look="primary" isDisabled={isFull} onPress={() => setCreating(true)}>
        <Plus />
        {text('create')}
      </Button>
    </div>
  )
  return (
    <Section title={text('keys')} hint={hint} actions={create}>
      {isFull && <p className="hint">{text('fullKeys', { count: max })}</p>}
      {keys.entries.length === 0 ? (
        <EmptyState icon={KeyRound} title={text('none')} hint={text('noneHint')} level="h3" />
      ) : (
        <Rows label={text('keys')}>
          {keys.entries.map(key => (
            <li key={key.id}>
              <span className="row-icon" aria-hidden>
                <KeyRound />
              </span>
              <div className="grow">
                <p className="title">
                  <span dir="auto">{key.name}</span>
                  <code className="sub">…{key.hint}</code>
                  {key.status === 'EXPIRED' && (
                    <span className="chip wrong">{text('expired')}</span>
                  )}
                </p>
                {key.description && (
                  <p className="sub" dir="auto">
                    {key.description}
                  </p>
                )}
                <p className="chips">
                  {key.scopes.map(scope => (
                    <span key={scope} className="chip soft">
                      {scopeText(scope)}
                    </span>
                  ))}
                </p>
                <p className="sub">{factsOf(key, workspace !== null)}</p>
              </div>
              <Button
                aria-label={text('revokeOf', { name: key.name })}
                onPress={() => setRevoking(key)}
              >
                {text('revoke')}
              </Button>
            </li>
          ))}
        </Rows>
      )}
      <ShowMore {...keys} />
      {isCreating && (
        <NewKey
          scopes={scopes}
          workspace={workspace?.id ?? null}
          onCreated={keys.refresh}
          onClose={() => setCreating(false)}
        />
      )}
      {isConnecting && (
        <ConnectDevice
          workspace={workspace}
          onCreated={keys.refresh}
          onClose={() => setConnecting(false)}
        />
      )}
      {revoking && (
        <Confirm
          title={text('revokeTitle')}
          isOpen
          label={text('revoke')}
          onClose={() => setRevoking(null)}
          onConfirm={() => void revoke(revoking).catch(toastError)}
        >
          <p>{text('revokeWarning', { name: revoking.name })}</p>
        </Confirm>
      )}
    </Section>
  )
}

function factsOf({ createdAt, createdBy, lastUsedAt, expiresAt }: Key, isShared: boolean): string {
  const when = formatExact(createdAt)
  return [
    isShared ? text('createdBy', { when, name: personName(createdBy) }) : text('created', { when }),
    lastUsedAt ? text('used', { when: formatRelative(lastUsedAt) }) : text('unused'),
    expiresAt ? text('ends', { when: formatExact(expiresAt) }) : text('endless'),
  ].join(' · ')
}
