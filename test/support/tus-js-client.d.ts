/**
 * The part of the API that the drill uses. The types of the package do not include streams of
 * Node.js.
 */
declare module 'tus-js-client' {
  import type { Readable } from 'node:stream'

  export interface UploadOptions {
    endpoint: string
    headers: Record<string, string>
    metadata: Record<string, string>
    retryDelays: number[]
    chunkSize: number
    parallelUploads: number
    uploadLengthDeferred: boolean
    onSuccess: () => void
    onError: (error: Error) => void
  }

  export class Upload {
    constructor(file: Readable, options: Partial<UploadOptions>)
    start(): void
  }
}
