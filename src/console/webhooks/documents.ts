import { graphql, type ResultOf } from '../graphql/graphql.ts'

/** The fields that a row of a webhook shows, for persons and workspaces. */
export const WEBHOOK = graphql(`
  fragment WebhookLine on Webhook {
    id
    url
    source
    kinds
    state
    firstFailedAt
    nextAttemptAt
    createdAt
    oldSecretEndsAt
    responsible {
      id
      name
      email
    }
  }
`)

export type Webhook = ResultOf<typeof WEBHOOK>
export type EventKind = NonNullable<Webhook['kinds']>[number]

export const CREATE_WEBHOOK = graphql(
  `
    mutation CreateWebhook($input: CreateWebhookInput!) {
      createWebhook(input: $input) {
        secret
        webhook {
          ...WebhookLine
        }
      }
    }
  `,
  [WEBHOOK],
)

export const UPDATE_WEBHOOK = graphql(
  `
    mutation UpdateWebhook($input: UpdateWebhookInput!) {
      updateWebhook(input: $input) {
        webhook {
          ...WebhookLine
        }
      }
    }
  `,
  [WEBHOOK],
)

export const ROTATE_SECRET = graphql(
  `
    mutation RotateSecret($input: RotateWebhookSecretInput!) {
      rotateWebhookSecret(input: $input) {
        secret
        webhook {
          ...WebhookLine
        }
      }
    }
  `,
  [WEBHOOK],
)

export const DELETE_WEBHOOK = graphql(`
  mutation DeleteWebhook($input: DeleteWebhookInput!) {
    deleteWebhook(input: $input) {
      deletedId
    }
  }
`)

export const PING_WEBHOOK = graphql(`
  mutation PingWebhook($input: PingWebhookInput!) {
    pingWebhook(input: $input) {
      webhook {
        id
      }
    }
  }
`)

export const REDELIVER = graphql(`
  mutation Redeliver($input: RedeliverEventInput!) {
    redeliverEvent(input: $input) {
      webhook {
        id
      }
    }
  }
`)

/** The results of the latest attempts. */
export const DELIVERIES = graphql(
  `
    query Deliveries($id: ID!) {
      node(id: $id) {
        __typename
        id
        ... on Webhook {
          ...WebhookLine
          deliveries {
            eventId
            kind
            attemptedAt
            attempt
            status
            failure
            milliseconds
          }
        }
      }
    }
  `,
  [WEBHOOK],
)

export type Delivery = Extract<
  NonNullable<ResultOf<typeof DELIVERIES>['node']>,
  { __typename: 'Webhook' }
>['deliveries'][number]
