import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { type Bench, median } from './service.ts'

/** A page of the console in Chromium, and its costs. */
export interface Browsing {
  browser: Browser
  page: Page
  devtools: CDPSession
  /** Megabytes that scripts hold after a garbage collection. */
  heap(): Promise<number>
  /** Turns the mouse wheel, and measures how smoothly the page scrolls. */
  scroll(what: string, turns: number, pixels: number): Promise<void>
}

/** Long tasks (more than 50 ms) of a page. */
const longTasks = `{
  window.longTasks = []
  new PerformanceObserver(list => list.getEntries().forEach(({ duration }) => window.longTasks.push(duration)))
    .observe({ type: 'longtask', buffered: true })
}`

/**
 * Opens a browser for the signed-in person of a benchmark. @param script runs in each page before
 * the console
 */
export async function startBrowsing({ url, cookie }: Bench, script = ''): Promise<Browsing> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH || '/usr/bin/chromium',
  })
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url }])
  await context.addInitScript(`${longTasks}\n${script}`)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)

  return {
    browser,
    page,
    devtools,
    async heap() {
      await devtools.send('HeapProfiler.collectGarbage')
      const { usedSize } = await devtools.send('Runtime.getHeapUsage')
      return usedSize / 1e6
    },
    async scroll(what, turns, pixels) {
      await page.mouse.move(640, 500)
      await page.evaluate(`{
        longTasks.length = 0
        window.frames = []
        let last = performance.now()
        const { frames } = window
        const next = now => { frames.push(now - last); last = now; if (window.frames === frames) requestAnimationFrame(next) }
        requestAnimationFrame(next)
      }`)
      for (let i = 0; i < turns; i++) {
        await page.mouse.wheel(0, pixels)
        await page.waitForTimeout(16)
      }
      const frames = await page.evaluate<number[]>('frames')
      const tasks = await page.evaluate<number[]>('longTasks')
      await page.evaluate('void (window.frames = [])')
      const below = frames.toSorted((a, b) => a - b)[Math.floor(frames.length * 0.95)]
      console.log(
        `${what}: frames of ${median(frames).toFixed(1)} ms (aim 16.7), 95 % below ${below?.toFixed(1)}; tasks over 50 ms: ${tasks.map(task => task.toFixed(0)).join(' ') || 'none'}`,
      )
    },
  }
}
