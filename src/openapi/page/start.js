// The theme that was chosen in the console, in this browser; else that of the system.
const dark = matchMedia('(prefers-color-scheme: dark)')
function chosenTheme() {
  try {
    return localStorage.getItem('satchel.theme')
  } catch {
    // Some browsers refuse it, in private windows or where cookies are blocked.
    return null
  }
}
function showTheme() {
  const chosen = chosenTheme()
  document.documentElement.classList.toggle('dark-mode', chosen ? chosen === 'dark' : dark.matches)
}
showTheme()
dark.addEventListener('change', showTheme)

// What Swagger UI leaves out for keyboards and screen readers. What it draws again keeps these attributes.
const levels = {
  ...{
    'h3.opblock-tag': 2,
    '.models > h4': 2,
    '.models h3': 3,
    '.opblock h4': 3,
    '.opblock h5': 4,
  },
  ...{ '.modal-ux h3': 2, '.modal-ux h4': 3 },
}
// The library has a main part; these are beside it.
const regions = {
  '.information-container': 'About this interface',
  '.scheme-container': 'Server and sign-in',
}
const nameOf = input =>
  input.closest('tr')?.querySelector('.parameter__name')?.firstChild?.textContent ??
  input.closest('section, div')?.querySelector('.servers-title, h4, label')?.textContent ??
  'Value'
function set(selector, attribute, value) {
  for (const one of document.querySelectorAll(`${selector}:not([${attribute}])`))
    one.setAttribute(attribute, typeof value === 'function' ? value(one) : value)
}
function complete() {
  for (const [selector, level] of Object.entries(levels)) set(selector, 'aria-level', level)
  set('#swagger-ui :is(select, textarea, input:not([type=checkbox]))', 'aria-label', nameOf)
  // The labels of all of them name the first one.
  set(
    '#swagger-ui input[type=checkbox]',
    'aria-label',
    box => box.closest('label')?.textContent.trim() || nameOf(box),
  )
  // What scrolls can be reached by keyboard, too.
  set('#swagger-ui pre.microlight', 'tabindex', 0)
  for (const [selector, label] of Object.entries(regions)) {
    set(selector, 'role', 'region')
    set(selector, 'aria-label', label)
  }
  set('.modal-ux', 'role', 'dialog')
  set('.modal-ux', 'aria-label', 'Authorize')
  set('.close-modal', 'aria-label', 'Close')
  for (const table of document.querySelectorAll('table[role=region]')) table.removeAttribute('role')
  for (const button of document.querySelectorAll('.auth-btn-wrapper [aria-label]'))
    button.removeAttribute('aria-label')
}
new MutationObserver(complete).observe(document.getElementById('swagger-ui'), {
  childList: true,
  subtree: true,
})

// A link in the button that opens the operation would be a second stop of the keyboard for the same.
const withoutLinks = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement('span', null, text) },
})

// Requests go to the host that the page was opened on: under another name of this service the session cookie would be missing.
SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  plugins: [withoutLinks],
  requestInterceptor(request) {
    const { pathname, search } = new URL(request.url, location.origin)
    request.url = location.origin + pathname + search
    return request
  },
})
