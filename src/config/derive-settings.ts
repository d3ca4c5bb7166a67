import { z } from 'zod'
import { count, flag } from './readers.ts'

/** The settings of thumbnails, text extraction and checksums. */
export const deriveSettings = {
  PREVIEWS: {
    help: 'make thumbnails of pictures, PDF documents and videos, and show them in lists',
    default: 'true',
    read: flag,
  },
  PREVIEW_MAX_BYTES: {
    help: 'maximum size of a file to make a thumbnail of, in bytes',
    default: '209715200',
    read: count(1, 2 ** 40),
  },
  FFMPEG: {
    help: 'path of the program `ffmpeg`, which makes thumbnails of videos; `false`: videos have icons',
    default: '',
    shown: 'the one in `PATH`, if there is one',
    read: z.string(),
  },
  HEIF_CONVERT: {
    help: 'path of the program `heif-convert` (or `heif-dec`) of libheif, which decodes HEIC pictures; `false`: they have icons',
    default: '',
    shown: 'the one in `PATH`, if there is one',
    read: z.string(),
  },
  SEARCH_CONTENTS: {
    help: 'on: searches include the contents of files (text, Markdown, source code, PDF, Office Open XML, OpenDocument, e-mail); off: extracted texts are deleted',
    default: 'on',
    read: z.enum(['on', 'off']).transform(value => value === 'on'),
  },
  DERIVE_PROCESSES: {
    help: 'processes that make thumbnails and extract texts; they run at low priority, only while there is work, each with at most 512 MiB',
    default: '',
    shown: 'one less than the number of processors, within half of the memory, but at least 1',
    read: z
      .literal('')
      .transform(() => undefined)
      .or(count(1, 256)),
  },
} as const
