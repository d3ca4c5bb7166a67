import { spawn } from 'node:child_process'
import { bounded, ENVIRONMENT, MARGIN, MEMORY, memoryOf, WATCH_MS } from './bounded.ts'
import type { Ended } from './child.ts'
import type { FailureReason, Task, VideoContainer } from './outcome.ts'

/** The input of a job of this kind. */
interface Input {
  container: VideoContainer
  /** The longest side of the picture, in pixels. */
  side: number
}

/** The maximum ffmpeg output that is read; the rest is discarded. */
const SAID = 64 * 1024
/** The maximum length of a line with the frame size; such lines have about 250 characters. */
const LINE = 500
/** Seconds of a video that are searched for a picture. */
const SECONDS = 10
/**
 * The number of key frames to choose the most representative from. The first one is often black.
 */
const FRAMES = 8
/** Decoders for common videos. All others are disabled. */
const decoders =
  'h264,hevc,libdav1d,av1,vp8,vp9,mpeg4,msmpeg4v3,mpeg1video,mpeg2video,mjpeg,h263,theora,prores,dvvideo,rawvideo,png'

/** The ffmpeg options to read exactly this file in this container, and to write one picture. */
function optionsFor({ path, bounds }: Task, { container, side }: Input): string[] {
  const scaled = `scale=w='min(${side},iw)':h='min(${side},ih)':force_original_aspect_ratio=decrease`
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
    ...['-f', 'image2pipe', 'pipe:1'],
  ]
}

/** An ffmpeg process that extracts one picture from a video. */
export interface VideoProcess {
  readonly pid: number
  /** The picture as PNG, and the original size if known. */
  ended: Promise<Ended>
  end(): void
}

/** Extracts a picture from a video, within the same bounds as other jobs. */
export async function takePicture(ffmpeg: string, task: Task): Promise<VideoProcess> {
  const { ms, outputBytes } = task.bounds
  const words = [ffmpeg, ...optionsFor(task, task.input as Input)]
  const [command, args] = await bounded(words, {
    processorSeconds: Math.ceil(ms / 1000) + 1,
    memory: MEMORY - MARGIN,
    writes: false,
  })
  const child = spawn(command, args, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pid = child.pid ?? 0
  let reason: FailureReason | undefined
  const kill = (why: FailureReason) => {
    reason ??= why
    child.kill('SIGKILL')
  }

  let [length, said] = [0, '']
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > outputBytes) return kill('too-large')
    chunks.push(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (said.length < SAID) said += chunk.toString('latin1')
  })
  const ended = new Promise<Ended>(resolve => {
    const watch = setInterval(() => {
      if ((memoryOf(pid)?.resident ?? 0) > MEMORY - MARGIN) kill('memory')
    }, WATCH_MS)
    const limit = setTimeout(() => kill('time'), ms)
    child.on('error', () => kill('crashed'))
    child.on('close', (_code, signal) => {
      clearInterval(watch)
      clearTimeout(limit)
      if (reason) return resolve({ ok: false, reason })
      if (signal) return resolve({ ok: false, reason: 'crashed' })
      // ffmpeg also succeeds, with empty output, for a video without pictures.
      if (length === 0) return resolve({ ok: false, reason: 'unreadable' })
      resolve({ ok: true, value: sizeIn(said), outputs: [Buffer.concat(chunks)] })
    })
  })
  return { pid, ended, end: () => kill('crashed') }
}

/**
 * The upright size of the first frame. A video may forge such a line, which is no worse than a
 * forged frame size. Lines are bounded, and the patterns cannot backtrack, because the service
 * itself parses this untrusted output.
 */
export function sizeIn(said: string): { width: number; height: number } | undefined {
  const line = said
    .split('\n')
    .find(
      one => one.length <= LINE && one.startsWith('[Parsed_showinfo_0 ') && /\] n: *0 /.test(one),
    )
  const [, width, height] = / s:(\d{1,6})x(\d{1,6}) /.exec(line ?? '') ?? []
  return width && height ? { width: Number(width), height: Number(height) } : undefined
}
