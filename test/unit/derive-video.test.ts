import { describe, expect, it } from '@jest/globals'
import { sizeIn } from '../../src/derive/video.ts'

const frame = (n: number, size: string) =>
  `[Parsed_showinfo_0 @ 0x5581] n:${`${n}`.padStart(4)} pts:      0 pts_time:0       duration:  512 fmt:yuv420p cl:left sar:1/1 s:${size} i:P iskey:1 type:I `

describe('The size of a video', () => {
  it('is that of its first frame, as ffmpeg says it', () => {
    const said = ['Input #0, mov', '[Parsed_showinfo_0 @ 0x5581] config in time_base: 1/12800', frame(0, '640x360')]
    expect(sizeIn([...said, frame(1, '320x180'), ''].join('\n'))).toEqual({ width: 640, height: 360 })
    expect(sizeIn(frame(10, '640x360'))).toBeUndefined()
    expect(sizeIn('title: showinfo n:   0 s:9x9 ')).toBeUndefined()
    expect(sizeIn('')).toBeUndefined()
  })

  it.each([['showinfo n: 0 s:1x1'], ['[Parsed_showinfo_0 @ 0] n: 0 '], [' n:   0 s:']])(
    'takes no longer where a line is long: %s',
    part => {
      const said = `[Parsed_showinfo_0 ${part.repeat(Math.ceil((64 * 1024) / part.length))}`
      const began = performance.now()
      expect(sizeIn(said)).toBeUndefined()
      expect(sizeIn(said.replaceAll(' n:', '\n n:'))).toBeUndefined()
      expect(performance.now() - began).toBeLessThan(50)
    },
  )
})
