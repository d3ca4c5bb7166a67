/**
 * Another token of the same length. It differs in its middle, where all bits of a letter count: in
 * the last letter of base64url some do not.
 */
export function altered(token: string): string {
  const at = Math.floor(token.length / 2)
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}
