/**
 * A name of a tag without regard to case and accents. Made here, because the engines disagree about
 * both; the command line finds tags by it, too. Only the accents of European scripts are left out:
 * in others, marks are vowels, without which words are different ones.
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
    // An accent that stood alone leaves a space, with which MariaDB would not tell the key from
    // that without it.
    .trim()
