import { describe, expect, it } from '@jest/globals'
import type { Progress } from '../../src/cli/progress.ts'
import { observed } from '../../src/cli/transfer/body.ts'
import { watch } from '../../src/cli/transfer/watchdog.ts'

const progress: Progress = { expect() {}, move() {}, skip() {}, checking: work => work, done() {}, stop() {} }
const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length

describe('What watches a transfer', () => {
  it('waits for nothing when the answer came before all bytes had gone', async () => {
    const before = timers()
    const watchdog = watch(new AbortController().signal, 'example.com')
    const pieces = observed([new Uint8Array(1), new Uint8Array(1)], { progress, watchdog, sent: 0 })
    await pieces.next()
    expect(timers()).toBe(before + 1)
    watchdog.stop()
    while (!(await pieces.next()).done);
    expect(timers()).toBe(before)
    expect(watchdog.signal.aborted).toBe(false)
  })
})
