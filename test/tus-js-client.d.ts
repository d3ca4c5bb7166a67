/** What the drill uses of it. The types that the package brings know no streams of Node.js. */
declare module 'tus-js-client' {
  import type { ReadStream } from 'node:fs'

  export interface UploadOptions {
    endpoint: string
    headers: Record<string, string>
    metadata: Record<string, string>
    retryDelays: number[]
    chunkSize: number
    parallelUploads: number
    onSuccess: () => void
    onError: (error: Error) => void
  }

  export class Upload {
    constructor(file: ReadStream, options: Partial<UploadOptions>)
    start(): void
  }
}
