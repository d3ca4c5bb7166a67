import { AppError } from '../../runtime/errors.ts'

/** The offset of the request differs from the number of bytes that have arrived. */
export class OffsetDiffers extends AppError {
  constructor(arrived: number) {
    super('UPLOAD_INCOMPLETE', `The upload has ${arrived} bytes. Continue from there.`, {
      offset: arrived,
    })
  }
}

/** Another request is writing to the upload, or its file is being created. */
export class StreamHeld extends AppError {
  constructor(message = 'Another request is sending bytes of this upload. Try again in a moment.') {
    super('UPLOAD_BUSY', message, { retry_after: 1 })
  }
}

/** The bytes do not match their checksum. None of them is kept. */
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

/** The request sent more bytes than the upload declares. */
export class TooManyBytes extends AppError {
  constructor(size: number) {
    super(
      'FILE_TOO_LARGE',
      `This upload has ${size} bytes, but more were sent. Start another one for a larger file.`,
      {
        max: size,
      },
    )
  }
}
