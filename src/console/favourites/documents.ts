import { graphql, type ResultOf } from '../graphql/graphql.ts'

export const FAVOURITE = graphql(`
  fragment FavouriteLine on Favourite {
    id
    name
    entry {
      __typename
      id
      path
      drive {
        id
        owner {
          __typename
          ... on Person {
            id
          }
          ... on Workspace {
            id
            slug
          }
        }
      }
      ... on File {
        contentType
      }
    }
    share {
      id
      entryKind
    }
  }
`)

export type Favourite = ResultOf<typeof FAVOURITE>

const LISTED = graphql(
  `
    fragment Favourites on Viewer {
      id
      favourites {
        ...FavouriteLine
      }
    }
  `,
  [FAVOURITE],
)

/** The person's favourites. */
export const FAVOURITES = graphql(
  `
    query Favourites {
      me {
        ...Favourites
      }
    }
  `,
  [LISTED],
)

export const ADD_FAVOURITES = graphql(
  `
    mutation AddFavourites($input: AddFavouritesInput!) {
      addFavourites(input: $input) {
        entries {
          __typename
          id
          isFavourite
        }
        viewer {
          ...Favourites
        }
      }
    }
  `,
  [LISTED],
)

export const REMOVE_FAVOURITES = graphql(
  `
    mutation RemoveFavourites($input: RemoveFavouritesInput!) {
      removeFavourites(input: $input) {
        entries {
          __typename
          id
          isFavourite
        }
        viewer {
          ...Favourites
        }
      }
    }
  `,
  [LISTED],
)

export const MOVE_FAVOURITE = graphql(
  `
    mutation MoveFavourite($input: MoveFavouriteInput!) {
      moveFavourite(input: $input) {
        viewer {
          ...Favourites
        }
      }
    }
  `,
  [LISTED],
)
