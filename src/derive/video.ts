import { MEMORY } from './bounded.ts'
import type { Task, VideoContainer } from './outcome.ts'
import { type ProgramProcess, runProgram } from './program.ts'

/** The input of a job of this kind. */
interface Input {
  container: VideoContainer
  /** The longest side of the picture, in pixels. */
  side: number
}

/** The maximum length of a line with the frame size; such lines have about 250 characters. */
const LINE = 500
/** Seconds of a video that are searched for a picture. */
const SECONDS = 10
/**
 * The number of key frames to choose the most representative from. The first one is often black.
 */
const FRAMES = 8
/** A pixel is at most so many times as wide as it is high, or as high as it is wide. */
const WIDEST = 8
/** Decoders for common videos. All others are disabled. */
const decoders = [
  ...['h264', 'hevc', 'libdav1d', 'av1', 'vp8', 'vp9', 'theora'],
  ...['mpeg4', 'mpeg1video', 'mpeg2video', 'mjpeg', 'h263', 'flv'],
  ...['msmpeg4', 'msmpeg4v2', 'wmv1', 'wmv2', 'wmv3', 'vc1'],
  ...['prores', 'dvvideo', 'rawvideo', 'png'],
].join(',')

/** The ffmpeg options to read exactly this file in this container, and to write one picture. */
function optionsFor({ path, bounds }: Task, { container, side }: Input): string[] {
  // The pixels of old formats are no squares: the width is stretched to what is displayed.
  const wide = `iw*if(between(sar,1/${WIDEST},${WIDEST}),sar,1)`
  const fit = `min(1,min(${side}/(${wide}),${side}/ih))`
  const scaled = `scale=w='max(1,round(${wide}*${fit}))':h='max(1,round(ih*${fit}))',setsar=1`
  return [
    ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'info'],
    ...['-max_alloc', `${MEMORY / 2}`, '-threads', '1', '-filter_threads', '1'],
    // Disables playlists, the network, and references to other files.
    ...[
      '-protocol_whitelist',
      'file',
      '-format_whitelist',
      container,
      '-codec_whitelist',
      decoders,
    ],
    ...(container === 'mov' ? ['-enable_drefs', '0', '-use_absolute_path', '0'] : []),
    ...['-max_pixels', `${bounds.pixels}`, '-skip_frame', 'nokey', '-t', `${SECONDS}`],
    ...['-an', '-sn', '-dn', '-f', container, '-i', `file:${path}`],
    // `showinfo` logs the original size.
    ...['-map', '0:V:0', '-vf', `showinfo=checksum=0,${scaled},thumbnail=n=${FRAMES},format=rgb24`],
    ...[
      '-frames:v',
      '1',
      '-map_metadata',
      '-1',
      '-c:v',
      'png',
      '-compression_level',
      '1',
      '-threads',
      '1',
    ],
    ...['-f', 'image2pipe', 'pipe:3'],
  ]
}

/** Extracts a picture from a video as PNG, with the displayed size of the video if it is known. */
export const takePicture = (ffmpeg: string, task: Task): Promise<ProgramProcess> =>
  runProgram([ffmpeg, ...optionsFor(task, task.input as Input)], task.bounds, { valueIn: sizeIn })

/**
 * The upright size at which the first frame is displayed: pixels of old formats are no squares. A
 * video may forge such a line, which is no worse than a forged frame size. Lines are bounded, and
 * the patterns cannot backtrack, because the service itself parses this untrusted output.
 */
export function sizeIn(said: string): { width: number; height: number } | undefined {
  const line = said
    .split('\n')
    .find(
      one => one.length <= LINE && one.startsWith('[Parsed_showinfo_0 ') && /\] n: *0 /.test(one),
    )
  const [, width, height] = / s:(\d{1,6})x(\d{1,6}) /.exec(line ?? '') ?? []
  if (!width || !height) return undefined
  const [, across, down] = / sar:(\d{1,6})\/(\d{1,6}) /.exec(line ?? '') ?? []
  const ratio = Number(across) / Number(down)
  const isKnown = ratio > 1 / WIDEST && ratio < WIDEST
  return {
    width: Math.max(1, Math.round(Number(width) * (isKnown ? ratio : 1))),
    height: Number(height),
  }
}
