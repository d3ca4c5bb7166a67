/** What the form of an upload says of where it goes. */
export interface UploadFields {
  folder?: string | null | undefined
  /** What to do when something of its name is there. */
  onConflict?: string | null | undefined
  /** When it was last modified, in milliseconds since 1970, as its client says. */
  modifiedAt?: number | null | undefined
}

/**
 * A file on its way in, from either face. A class, because nothing that a client writes as JSON can
 * be an instance of it.
 */
export class Upload {
  readonly filename: string
  /** The media type that the client declares. */
  readonly mimetype: string
  readonly source: AsyncIterable<Uint8Array>
  /** Upper bound of the size in bytes, where the request declares one. */
  readonly bound: number | undefined
  readonly signal: AbortSignal | undefined
  /**
   * Browsers send the file before the folder: then the destination is known only after the bytes.
   */
  readonly fieldsAfterwards: (() => Promise<UploadFields>) | undefined

  constructor(file: {
    filename: string
    mimetype: string
    source: AsyncIterable<Uint8Array>
    bound?: number | undefined
    signal?: AbortSignal | undefined
    fieldsAfterwards?: () => Promise<UploadFields>
  }) {
    this.filename = file.filename
    this.mimetype = file.mimetype
    this.source = file.source
    this.bound = file.bound
    this.signal = file.signal
    this.fieldsAfterwards = file.fieldsAfterwards
  }
}

/**
 * A file that is waited for once a resolver asks for it, and not before: who reads the form learns
 * in which order files are read.
 */
export class AwaitedUpload implements PromiseLike<Upload> {
  private readonly arrival: () => Promise<Upload>
  private awaited: Promise<Upload> | undefined

  constructor(arrival: () => Promise<Upload>) {
    this.arrival = arrival
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited, which is what begins the wait.
  then: PromiseLike<Upload>['then'] = (fulfilled, rejected) => {
    this.awaited ??= this.arrival()
    return this.awaited.then(fulfilled, rejected)
  }
}
