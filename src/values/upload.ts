/** The target fields of an upload form. */
export interface UploadFields {
  folder?: string | null | undefined
  /** The action when the name is already taken. */
  onConflict?: string | null | undefined
  /** The modification time from the client, in milliseconds since 1970. */
  modifiedAt?: number | null | undefined
}

/**
 * An incoming file, from REST or GraphQL. It is a class so that no JSON input can be mistaken for
 * one.
 */
export class Upload {
  readonly filename: string
  /** The media type from the client. */
  readonly mimetype: string
  readonly source: AsyncIterable<Uint8Array>
  /** Upper bound of the size in bytes, if the request declares one. */
  readonly bound: number | undefined
  readonly signal: AbortSignal | undefined
  /**
   * Set if the fields follow the file, as in browsers. The target is then known only after the
   * bytes.
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
 * A file that is awaited only when a resolver requests it, so that the form reader learns the read
 * order of files.
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
