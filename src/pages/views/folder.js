// The page of a shared folder: a viewer on top of the list, tiles, a lasting selection and infinite
// scrolling. It fetches the same pages as visitors without scripts, so the service sees no
// difference.

/**
 * Rows further than this from the window, in pixels, are removed from the DOM, because a list may
 * have 100,000.
 */
const NEAR = 6000
/** Loads the next page at this distance from the end, in pixels. */
const AHEAD = 2500
/** Swipe distance that goes to another file, in pixels. */
const SWIPE = 60
const YEAR_SECONDS = 365 * 86_400

/** Fills in the values of a message. */
const filled = (message, values) =>
  message.replace(/\{(\w+)\}/g, (_, name) =>
    values[name].toLocaleString(document.documentElement.lang),
  )

/** Fetches a page of this service. */
async function read(href, signal) {
  const answer = await fetch(href, { headers: { Accept: 'text/html' }, signal })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  if (!answer.ok) throw new Error(page.title)
  return page
}

/** @param card the section of the folder */
export function start(card, tools) {
  const list = longList(card, tools)
  const selection = card.querySelector('form[data-most]') && keepSelection(card, list)
  list.onRows = rows => selection?.mark(rows)
  openOver(card, list, tools)
  for (const button of card.querySelectorAll('[data-look]'))
    button.addEventListener('click', event => {
      event.preventDefault()
      card.classList.toggle('tiles', button.dataset.look === 'tiles')
      for (const one of card.querySelectorAll('[data-look]'))
        one.ariaCurrent = one === button ? 'true' : null
      // biome-ignore lint/suspicious/noDocumentCookie: some browsers have no cookie store
      document.cookie = `share_view=${button.dataset.look}; path=${location.pathname}; max-age=${YEAR_SECONDS}; samesite=lax`
      list.measure()
    })
  card.addEventListener('keydown', event => moveFocus(card, event))
  // A broken picture reveals the icon below it.
  card.addEventListener(
    'error',
    event => event.target.matches('.tile img') && event.target.remove(),
    true,
  )
  for (const image of card.querySelectorAll('.tile img'))
    if (image.complete && !image.naturalWidth) image.remove()
}

/**
 * Infinite scrolling: loads the next page before the end is visible, and empties pages far from the
 * window until they come near again.
 */
function longList(card, { enhance }) {
  /** The HTML of each page, by its element. */
  const pages = new Map()
  const more = card.querySelector('.more')
  const list = {
    onRows: () => {},
    measure,
    readOn,
    hasMore: () => Boolean(more?.isConnected),
    rowAt,
    known: new Map(),
  }
  let reading = null

  const near = new IntersectionObserver(
    changes => {
      for (const { target, isIntersecting } of changes)
        isIntersecting ? fill(target) : clear(target)
    },
    { rootMargin: `${NEAR}px 0px` },
  )
  const end = new IntersectionObserver(changes => changes.at(-1).isIntersecting && readOn(), {
    rootMargin: `${AHEAD}px 0px`,
  })

  function take(element, href) {
    const rows = [...element.children]
    pages.set(element, { href, count: rows.length, reading: null })
    for (const row of rows) {
      const box = row.querySelector('[name=entry]')
      if (box) list.known.set(box.value, row.querySelector('a.bytes')?.href ?? null)
    }
    near.observe(element)
    list.onRows(rows)
  }

  /** Loads the next page. Returns whether there was one. */
  function readOn() {
    const link = more?.isConnected && more.querySelector('a')
    if (!link) return Promise.resolve(false)
    reading ??= read(link.href)
      .then(page => {
        const [element, following] = [
          page.querySelector('ul.entries'),
          page.querySelector('.more a'),
        ]
        if (!element) throw new Error(page.title)
        enhance(element)
        ;[...pages.keys()].at(-1).after(document.adoptNode(element))
        take(element, link.href)
        if (following) {
          link.href = following.href
          // Observes again, because the end may still be near.
          end.unobserve(more)
          end.observe(more)
        } else more.remove()
        return true
      })
      // The link still works.
      .catch(() => false)
      .finally(() => {
        reading = null
      })
    return reading
  }

  async function fill(element) {
    const page = pages.get(element)
    if (element.firstElementChild || page.reading) return
    page.reading = new AbortController()
    try {
      const rows = (await read(page.href, page.reading.signal)).querySelectorAll('ul.entries > li')
      element.replaceChildren(...rows)
      element.style.blockSize = ''
      enhance(element)
      list.onRows([...rows])
    } catch {
      // The next approach to the end tries again.
    } finally {
      page.reading = null
    }
  }

  function clear(element) {
    const page = pages.get(element)
    page.reading?.abort()
    // The first page is never emptied, because fetching it counts as opening the folder.
    const isKept = element === [...pages.keys()][0] || element.contains(document.activeElement)
    if (isKept || !element.firstElementChild) return
    element.style.blockSize = `${element.offsetHeight}px`
    element.replaceChildren()
  }

  /** Updates the placeholder height of emptied pages after the row height changed. */
  function measure() {
    const full = [...pages].filter(([element]) => element.firstElementChild)
    const height = full.reduce((sum, [element]) => sum + element.offsetHeight, 0)
    const count = full.reduce((sum, [, page]) => sum + page.count, 0)
    for (const [element, page] of pages)
      if (!element.firstElementChild) element.style.blockSize = `${(height / count) * page.count}px`
  }

  /** The link of the previous or next file. Loads more pages if needed. */
  async function rowAt(href, step) {
    const links = [...card.querySelectorAll('a[data-view]')]
    const at = links.findIndex(link => link.getAttribute('href') === href)
    const found = at < 0 ? undefined : links[at + step]
    if (found || step < 0 || !(await readOn())) return found
    return rowAt(href, step)
  }

  const first = card.querySelector('ul.entries')
  if (first) take(first, location.href)
  if (more) end.observe(more)
  let width = innerWidth
  addEventListener('resize', () => {
    if (width !== innerWidth) measure()
    width = innerWidth
  })
  return list
}

/** Stores a value in this tab; null deletes it. Some browsers refuse to store anything. */
function remember(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, value)
  } catch {}
}
function remembered(key) {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

/**
 * The selection: paths or everything. It is independent of the rows in the DOM and of the sort
 * order.
 */
function keepSelection(card, list) {
  const form = card.querySelector('form[data-most]')
  const texts = JSON.parse(card.dataset.texts)
  const most = Number(form.dataset.most)
  const all = card.querySelector('[data-all]')
  const words = card.querySelector('[data-picked]')
  const [clear, send] = card.querySelectorAll('.zip button')
  const [hint, sendLabel] = [words.textContent, send.lastChild.textContent]
  const folder = form.elements.path.value
  const key = `selected ${form.action} ${folder} ${new URLSearchParams(location.search).get('q') ?? ''}`
  /** Search results are not a folder that can be downloaded as a whole. */
  const isWhole = !('found' in form.dataset)
  let picked = new Set()
  let everything = false
  let last = null

  const boxes = () => [...form.querySelectorAll('[name=entry]')]

  function show() {
    const count = picked.size
    const isAll = everything || (count > 0 && count === list.known.size)
    all.checked = isAll
    all.indeterminate = !isAll && count > 0
    clear.hidden = !everything && count === 0
    send.disabled = count > most
    send.lastChild.textContent =
      everything || count === 0 ? sendLabel : filled(texts.downloadSelected, { count })
    words.textContent = wordsFor(isAll)
    const kept = everything ? { everything } : count > 0 ? { paths: [...picked] } : null
    remember(key, kept && JSON.stringify(kept))
  }

  /** The selection in words. */
  function wordsFor(isAll) {
    const count = picked.size
    if (everything && list.hasMore()) return texts.selectedAll
    if (count > most) return filled(texts.selectedTooMany, { count, most })
    if (isAll && list.hasMore()) return filled(texts.selectedLoaded, { count })
    return count === 1 && list.known.get([...picked][0]) ? '' : hint
  }

  function mark(rows) {
    for (const row of rows) {
      const box = row.querySelector('[name=entry]')
      if (box) box.checked = everything || picked.has(box.value)
    }
    show()
  }

  function set(paths, isOn) {
    if (everything) picked = new Set(list.known.keys())
    everything = false
    for (const path of paths) isOn ? picked.add(path) : picked.delete(path)
    show()
  }

  function setAll(isOn) {
    everything = isOn && isWhole
    picked = new Set(isOn && !isWhole ? list.known.keys() : [])
    mark(form.querySelectorAll('ul.entries > li'))
  }

  form.addEventListener('change', ({ target }) => {
    if (target === all) setAll(all.checked)
    else if (target.name === 'entry') set([target.value], target.checked)
  })
  form.addEventListener('click', ({ target, shiftKey }) => {
    if (target.name !== 'entry') return
    const shown = boxes()
    const [from, to] = [shown.indexOf(last), shown.indexOf(target)].sort((a, b) => a - b)
    last = target
    if (!shiftKey || from < 0) return
    const between = shown.slice(from, to + 1)
    for (const box of between) box.checked = target.checked
    set(
      between.map(({ value }) => value),
      target.checked,
    )
  })
  clear.addEventListener('click', () => {
    setAll(false)
    send.focus()
  })
  form.addEventListener('submit', event => {
    const href = picked.size === 1 && list.known.get([...picked][0])
    if (!href) return
    event.preventDefault()
    location.assign(href)
  })
  form.addEventListener('formdata', ({ formData }) => {
    formData.delete('entry')
    for (const path of picked) formData.append('entry', path)
  })

  const kept = JSON.parse(remembered(key) ?? '{}')
  everything = Boolean(kept.everything)
  picked = new Set(kept.paths)
  all.parentElement.hidden = false
  mark(form.querySelectorAll('ul.entries > li'))
  return { mark }
}

/** The viewer: shows files on top of the folder. Each file has the URL of its own page. */
function openOver(card, list, { enhance }) {
  const viewer = card.querySelector('dialog.viewer')
  const stage = viewer.querySelector('.viewer-stage')
  const [name, facts] = viewer.querySelectorAll('.viewer-name :is(bdi, p)')
  const download = viewer.querySelector('.viewer-head a')
  const steps = [...viewer.querySelectorAll('[data-step]')]
  const title = document.title
  let shown = ''
  let reading = null

  const linkOf = href =>
    [...card.querySelectorAll('a[data-view]')].find(link => link.getAttribute('href') === href)

  /** @param href the link from the list */
  async function show(href) {
    shown = href
    reading?.abort()
    reading = new AbortController()
    const { signal } = reading
    stage.replaceChildren()
    const link = linkOf(href)
    name.textContent = link?.textContent ?? ''
    facts.textContent = ''
    download.hidden = true
    if (!viewer.open) {
      viewer.showModal()
      viewer.focus()
    }
    link?.scrollIntoView({ block: 'nearest' })
    try {
      const page = await read(href, signal)
      const said = page.querySelector('.facts')?.textContent
      const view = await viewOf(page, signal)
      // Closed or replaced meanwhile: a late page must not change the title.
      if (signal.aborted) return
      // The share asks for its password again.
      if (!view) return location.assign(href)
      enhance(view)
      stage.replaceChildren(view)
      document.title = page.title
      name.textContent = page.getElementById('name').textContent
      facts.textContent = said
      const bytes = page.querySelector('a.button[rel=nofollow]')
      download.hidden = !bytes
      if (bytes) download.href = bytes.href
      for (const button of steps) {
        const next = await list.rowAt(href, Number(button.dataset.step))
        if (signal.aborted) return
        // A disabled button receives no key events.
        if (!next && button === document.activeElement) viewer.focus()
        button.disabled = !next
      }
    } catch {
      // The page of the file shows the error.
      if (!signal.aborted) location.assign(href)
    }
  }

  async function step(by) {
    const next = (await list.rowAt(shown, by))?.getAttribute('href')
    if (!next || !viewer.open) return
    history.replaceState({ isViewed: true }, '', next)
    await show(next)
  }

  card.addEventListener('click', event => {
    const link = event.target.closest('a[data-view]')
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    const href = link.getAttribute('href')
    // Back must keep the current scroll position of the list.
    history.scrollRestoration = 'manual'
    history.pushState({ isViewed: true }, '', href)
    show(href)
  })
  for (const button of steps)
    button.addEventListener('click', () => step(Number(button.dataset.step)))
  viewer.querySelector('[data-close]').addEventListener('click', () => viewer.close())
  viewer.addEventListener('keydown', event => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    // In a player, these keys seek.
    if (by && !event.target.closest('audio, video')) step(by)
  })
  // Horizontal swipes, except on a zoomed picture.
  let from = null
  stage.addEventListener('touchstart', ({ target, touches }) => {
    const isAlone =
      touches.length === 1 &&
      visualViewport.scale === 1 &&
      !target.closest('audio, video, [data-zoomed=true], .laid-out')
    from = isAlone ? { x: touches[0].clientX, y: touches[0].clientY } : null
  })
  stage.addEventListener('touchend', ({ changedTouches: [{ clientX, clientY }] }) => {
    const [along, across] = from ? [clientX - from.x, clientY - from.y] : [0, 0]
    from = null
    if (Math.abs(along) > SWIPE && Math.abs(along) > 2 * Math.abs(across)) step(along < 0 ? 1 : -1)
  })
  viewer.addEventListener('close', () => {
    reading?.abort()
    stage.replaceChildren()
    document.title = title
    linkOf(shown)?.focus()
    if (history.state?.isViewed) history.back()
  })
  addEventListener('popstate', () => {
    if (history.state?.isViewed) return void show(location.pathname + location.search)
    history.scrollRestoration = 'auto'
    if (viewer.open) viewer.close()
  })
}

/** The viewer content from the page of a file; null if the page shows none yet. */
async function viewOf(page, signal) {
  const tile = page.querySelector('.card > .tile')
  if (!tile || page.querySelector('form.password')) return null
  const preview = page.querySelector('.preview')
  const frame = preview?.querySelector('iframe')
  if (frame) {
    // Inlined into this page, so that the viewer receives keys.
    const text = await read(frame.src, signal)
    preview.replaceChildren(...text.querySelectorAll('pre, main > .hint'))
  }
  if (preview) return document.adoptNode(preview)
  const none = document.createElement('div')
  none.className = 'preview none'
  none.append(tile, ...page.querySelectorAll('audio, .card > .facts, .card > .hint'))
  return none
}

/** Arrow keys move between rows, within the same column of controls. */
function moveFocus(card, event) {
  const row = event.target.closest('ul.entries > li')
  if (!row || event.target.closest('dialog') || event.ctrlKey || event.altKey || event.metaKey)
    return
  const columns = card.classList.contains('tiles')
    ? getComputedStyle(row.parentElement).gridTemplateColumns.split(' ').length
    : 0
  const by = {
    ArrowDown: columns || 1,
    ArrowUp: -(columns || 1),
    ...(columns && { ArrowRight: 1, ArrowLeft: -1 }),
  }[event.key]
  if (!by) return
  event.preventDefault()
  const what = event.target.matches('[name=entry]')
    ? '[name=entry]'
    : event.target.matches('.bytes')
      ? 'a.bytes'
      : 'div > a'
  const rows = [...card.querySelectorAll('ul.entries > li')]
  const next = rows[rows.indexOf(row) + by]
  const goal = next?.querySelector(what) ?? next?.querySelector('div > a')
  goal?.focus()
}
