/** What the address says: whether only what is new is listed. */
export interface ReceivedSearch {
  unseen?: true
}

/** Reads the search of an address. What it does not know, it drops. */
export const readSearch = ({ unseen }: Record<string, unknown>): ReceivedSearch => ({
  unseen: unseen === true || unseen === 'true' ? true : undefined,
})
