import { graphql, type ResultOf } from '../graphql/graphql.ts'

const VERSIONS = graphql(`
  fragment Versions on VersionConnection {
    nodes {
      id
      size
      md5
      contentType
      createdAt
      modifiedAt
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

/** A file with its versions. */
export const VERSIONED = graphql(
  `
    fragment VersionedFile on File {
      __typename
      id
      name
      path
      size
      md5
      contentType
      modifiedAt
      updatedAt
      revision
      permissions
      versions(first: 100) {
        ...Versions
      }
      drive {
        id
        versionsKept
        versionDays
      }
    }
  `,
  [VERSIONS],
)

export type VersionedFile = ResultOf<typeof VERSIONED>
export type Version = NonNullable<VersionedFile['versions']>['nodes'][number]

/** One page of the versions of a file. */
export const VERSIONS_OF = graphql(
  `
    query VersionsOf($id: ID!, $first: Int!, $after: String) {
      node(id: $id) {
        __typename
        id
        ... on File {
          versions(first: $first, after: $after) {
            ...Versions
          }
        }
      }
    }
  `,
  [VERSIONS],
)

export type VersionsData = ResultOf<typeof VERSIONS_OF>

export const RESTORE_VERSION = graphql(
  `
    mutation RestoreVersion($input: RestoreVersionInput!) {
      restoreVersion(input: $input) {
        version {
          id
        }
        file {
          ...VersionedFile
        }
        drive {
          id
          usage {
            usedBytes
          }
        }
      }
    }
  `,
  [VERSIONED],
)

export const DELETE_VERSION = graphql(
  `
    mutation DeleteVersion($input: DeleteVersionInput!) {
      deleteVersion(input: $input) {
        deletedId
        file {
          ...VersionedFile
        }
      }
    }
  `,
  [VERSIONED],
)

/** A signed URL of a version. */
export const DOWNLOAD_VERSION = graphql(`
  query DownloadVersion($id: ID!, $disposition: Disposition!) {
    node(id: $id) {
      __typename
      id
      ... on Version {
        download(disposition: $disposition) {
          url
          fileName
        }
      }
    }
  }
`)
