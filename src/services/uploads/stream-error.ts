import { AppError } from '../../runtime/errors.ts'

/** The bytes that were sent continue something else than what has arrived. */
export class OffsetDiffers extends AppError {
  constructor(arrived: number) {
    super('UPLOAD_INCOMPLETE', `The upload has ${arrived} bytes. Continue from there.`, {
      offset: arrived,
    })
  }
}

/** Another request writes to the upload, or its file is being made. */
export class StreamHeld extends AppError {
  constructor(message = 'Another request is sending bytes of this upload. Try again in a moment.') {
    super('UPLOAD_BUSY', message, { retry_after: 1 })
  }
}

/** The bytes that were sent are not those of their checksum: none of them is kept. */
export class ChunkDiffers extends AppError {
  constructor(algorithm: string) {
    super(
      'CHECKSUM_MISMATCH',
      `The bytes do not match the given ${algorithm}, and were discarded. Send them again.`,
      {
        algorithm,
      },
    )
  }
}

/** More bytes were sent than the upload has. */
export class TooManyBytes extends AppError {
  constructor(size: number) {
    super(
      'FILE_TOO_LARGE',
      `This upload has ${size} bytes, and more were sent. Start another one for a larger file.`,
      {
        max: size,
      },
    )
  }
}
