/** The URL parameters: whether only new shares are listed. */
export interface ReceivedSearch {
  unseen?: true
}

/** Parses the URL parameters, and drops unknown values. */
export const readSearch = ({ unseen }: Record<string, unknown>): ReceivedSearch => ({
  unseen: unseen === true || unseen === 'true' ? true : undefined,
})
