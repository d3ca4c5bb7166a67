/**
 * Another token of the same length. It differs in the middle, where every bit of a character
 * counts: some bits of the last base64url character are unused.
 */
export function altered(token: string): string {
  const at = Math.floor(token.length / 2)
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}
