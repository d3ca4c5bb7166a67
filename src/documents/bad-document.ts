/** Thrown for a document that cannot be read. */
export class BadDocument extends Error {
  readonly reason: 'unsupported' | 'too-large'

  constructor(reason: BadDocument['reason']) {
    super(reason)
    this.name = 'BadDocument'
    this.reason = reason
  }
}
