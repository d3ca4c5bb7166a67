/**
 * The comparison key of a tag name, which ignores case and accents. Computed here because the
 * database engines differ, and because the command line needs it. Removes only accents of European
 * scripts. In other scripts, marks may be vowels, and words without them differ.
 */
export const tagKey = (name: string): string =>
  name
    .trim()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    // A standalone accent leaves a space, and MariaDB ignores trailing spaces in comparisons.
    .trim()
