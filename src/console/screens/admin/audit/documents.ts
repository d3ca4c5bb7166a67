import { graphql, type ResultOf } from '../../../graphql/graphql.ts'

export const TRAIL = graphql(`
  query AuditTrail($filter: AuditFilter, $first: Int!, $after: String) {
    operator {
      auditTrail(filter: $filter, first: $first, after: $after) {
        nodes {
          id
          happenedAt
          kind
          via
          actor {
            id
            name
            email
          }
          actorId
          operator {
            id
            name
            email
          }
          concerned {
            id
            name
            email
          }
          credentialId
          credentialName
          subjectId
          address
          agent
          details {
            path
            from
            size
            files
            recipient
            name
            role
            plan
            limits {
              name
              value
              unlimited
            }
            count
            provider
            sender
            refusal
            device
            network
            tool
            code
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`)

export type Entry = ResultOf<typeof TRAIL>['operator']['auditTrail']['nodes'][number]

export const PEOPLE = graphql(`
  query AuditPeople($search: String!) {
    operator {
      accounts(search: $search, first: 6) {
        nodes {
          id
          name
          email
        }
      }
    }
  }
`)

export const PERSON = graphql(`
  query AuditPerson($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Account {
        name
        email
      }
    }
  }
`)
