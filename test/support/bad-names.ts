/** Invalid names, with the reason. */
export const badNames: [string, string][] = [
  ['.', '.'],
  ['..', '..'],
  ['a backslash', 'a\\b'],
  ['a line break', 'a\nb'],
  ['a tab', 'a\tb'],
  ['DEL', 'a\u007fb'],
  ['a C1 control', 'a\u0085b'],
  ['NUL', 'a\u0000.txt'],
  ['a space before', ' a'],
  ['a trailing space', 'a '],
  ['nothing but a space', ' '],
  ['a no-break space before', '\u00a0a'],
  ['a trailing ideographic space', 'a\u3000'],
  ['a byte order mark before', '\ufeffa'],
  ['256 bytes of ASCII', 'a'.repeat(256)],
  ['256 bytes, two each', 'é'.repeat(128)],
  ['257 bytes of emoji', `${'😀'.repeat(64)}a`],
  ['very many combining marks', `a${'\u0301'.repeat(1500)}`],
]

/** A path of five such names. */
export const five = (name: string) => Array(5).fill(name).join('/')

/** Paths that are invalid in every request. */
export const badPaths: [string, string][] = [
  ...badNames,
  ['.. in the middle', 'keep/../keep/a.txt'],
  ['.. after a backslash', '..\\a'],
  ['a trailing .', 'keep/.'],
  ['an empty name', 'keep//a.txt'],
  ['a name of a space', 'keep/ /a.txt'],
  ['a space after a folder', 'keep /a.txt'],
  ['33 names', Array(33).fill('a').join('/')],
  ['1,025 bytes', `${five('a'.repeat(204))}a`],
  ['1,025 bytes, two each', `${five('é'.repeat(102))}a`],
]

/** Names that JSON can contain, but an address or a form cannot. */
export const onlyInJson: [string, string][] = [
  ['the first half of a surrogate pair', 'a\ud800'],
  ['the second half of a surrogate pair', 'keep/\udc00b'],
  ['a body full of combining marks', `a${'\u0301'.repeat(200_000)}`],
  ['a body full of slashes', `a${'/'.repeat(900_000)}b`],
]
