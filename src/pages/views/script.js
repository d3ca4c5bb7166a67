// Enhances pages that also work without it.

const { lang } = document.documentElement
const locale = lang === 'en' ? 'en-GB' : lang
const texts = JSON.parse(document.currentScript.dataset.texts ?? '{}')
const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const say = text => {
  document.getElementById('status').textContent = text
}

/** Enhances new content of the page. */
function enhance(root) {
  // The service renders times in UTC, because it does not know the reader's time zone.
  for (const time of root.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    time.textContent = ('day' in time.dataset ? day : format).format(at)
    if ('day' in time.dataset) time.title = format.format(at)
  }
  for (const button of root.querySelectorAll('[data-reveal]')) button.hidden = false
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = !navigator.clipboard
  for (const image of root.querySelectorAll('.preview img'))
    image.addEventListener('error', () => {
      const sorry = document.createElement('p')
      sorry.textContent = texts.pictureFails
      image.replaceWith(sorry)
    })
  // Scripts that only some pages need, also for content that is loaded later.
  const parts = [...root.querySelectorAll('[data-module]')]
  if (root instanceof Element && root.matches('[data-module]')) parts.push(root)
  for (const part of parts)
    import(part.dataset.module).then(({ start }) => start(part, { enhance, say }))
}

// After a reload, a file that was opened on top of its folder is shown by its own page.
const loaded = location.pathname + location.search
addEventListener('popstate', () => {
  const isHere = location.pathname + location.search === loaded
  if (!isHere && !document.querySelector('dialog.viewer')) location.reload()
})

document.addEventListener('click', async event => {
  const button = event.target.closest('button')
  if (button?.dataset.reveal) {
    const field = document.getElementById(button.dataset.reveal)
    const show = field.type === 'password'
    field.type = show ? 'text' : 'password'
    button.dataset.show ??= button.firstChild.textContent
    button.firstChild.textContent = show ? (button.dataset.hide ?? texts.hide) : button.dataset.show
  }
  if (button?.hasAttribute('data-copy')) {
    const field = document.getElementById(button.dataset.copy)
    await navigator.clipboard.writeText(field?.value ?? location.origin + location.pathname)
    button.lastChild.textContent = button.dataset.done ?? texts.copied
    say(button.dataset.done ?? texts.linkCopied)
  }
})

// Replaces the page with the response to a form, without flicker.
document.addEventListener('submit', async event => {
  const form = event.target
  if (!form.hasAttribute('data-in-place')) return
  event.preventDefault()
  if (form.ariaBusy === 'true') return
  form.ariaBusy = 'true'
  try {
    const body = new URLSearchParams(new FormData(form))
    const answer = await fetch(form.action, {
      method: 'POST',
      body,
      headers: { Accept: 'text/html' },
    })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const main = document.adoptNode(page.querySelector('main'))
    document.title = page.title
    document.querySelector('main').replaceWith(main)
    enhance(main)
    const target = main.querySelector('[autofocus]') ?? main
    target.focus()
  } catch {
    form.submit()
  }
})

enhance(document)
