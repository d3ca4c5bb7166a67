import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { available, bounded } from '../../src/derive/bounded.ts'
import { sizeIn } from '../../src/derive/video.ts'

const frame = (n: number, size: string) =>
  `[Parsed_showinfo_0 @ 0x5581] n:${`${n}`.padStart(4)} pts:      0 pts_time:0       duration:  512 fmt:yuv420p cl:left sar:1/1 s:${size} i:P iskey:1 type:I `

describe('The size of a video', () => {
  it('is the size of its first frame according to ffmpeg', () => {
    const said = [
      'Input #0, mov',
      '[Parsed_showinfo_0 @ 0x5581] config in time_base: 1/12800',
      frame(0, '640x360'),
    ]
    expect(sizeIn([...said, frame(1, '320x180'), ''].join('\n'))).toEqual({
      width: 640,
      height: 360,
    })
    expect(sizeIn(frame(10, '640x360'))).toBeUndefined()
    const stretched = (ratio: string) =>
      sizeIn(frame(0, '720x576').replace('sar:1/1', `sar:${ratio}`))
    expect(stretched('64/45')).toEqual({ width: 1024, height: 576 })
    for (const ratio of ['0/1', '1/0', '9999/1'])
      expect(stretched(ratio)).toEqual({ width: 720, height: 576 })
    expect(sizeIn('title: showinfo n:   0 s:9x9 ')).toBeUndefined()
    expect(sizeIn('')).toBeUndefined()
  })

  it.each([['showinfo n: 0 s:1x1'], ['[Parsed_showinfo_0 @ 0] n: 0 '], [' n:   0 s:']])(
    'takes no longer with a long line: %s',
    part => {
      const said = `[Parsed_showinfo_0 ${part.repeat(Math.ceil((64 * 1024) / part.length))}`
      const began = performance.now()
      expect(sizeIn(said)).toBeUndefined()
      expect(sizeIn(said.replaceAll(' n:', '\n n:'))).toBeUndefined()
      expect(performance.now() - began).toBeLessThan(500)
    },
  )
})

describe('The sandbox of a program', () => {
  /** The output of a script in the sandbox, and the files that it wrote. */
  async function inBounds(script: string, writes: boolean) {
    const dir = mkdtempSync(join(tmpdir(), 'satchel-bounded-'))
    try {
      const [command, args] = await bounded(['sh', '-c', script, dir], {
        processorSeconds: 5,
        writes,
      })
      const { stdout } = await promisify(execFile)(command, args)
      return { said: stdout, written: readdirSync(dir) }
    } finally {
      rmSync(dir, { recursive: true })
    }
  }

  it('allows writing files or not, and always pipes', async () => {
    const script =
      'head -c 9 /dev/zero | tr "\\0" x > "$0/file"; [ -s "$0/file" ] || rm "$0/file"; echo done'
    expect(await inBounds(script, true)).toEqual({ said: 'done\n', written: ['file'] })
    expect(await inBounds(script, false)).toEqual({ said: 'done\n', written: [] })
  })

  it('denies new privileges and the network, and lowers the priority', async () => {
    const { said } = await inBounds(
      'grep NoNewPrivs /proc/self/status; nice; grep -c : /proc/self/net/dev',
      false,
    )
    const [rights, priority, devices] = said.trim().split('\n')
    expect(rights).toBe('NoNewPrivs:\t1')
    expect(Number(priority)).toBeGreaterThanOrEqual(15)
    // The remaining network contains only the loopback device.
    if ((await available()).unshare) expect(devices).toBe('1')
  })
})
