// The theme chosen in the console of this browser, or else the theme of the system.
const dark = matchMedia('(prefers-color-scheme: dark)')
function chosenTheme() {
  try {
    return localStorage.getItem('satchel.theme')
  } catch {
    // Some browsers block storage in private windows, or when cookies are blocked.
    return null
  }
}
function showTheme() {
  const chosen = chosenTheme()
  document.documentElement.classList.toggle('dark-mode', chosen ? chosen === 'dark' : dark.matches)
}
showTheme()
dark.addEventListener('change', showTheme)

// Attributes for keyboards and screen readers that Swagger UI lacks. Elements that it renders again
// keep them.
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
// The library has a main landmark. These are the others.
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
  // The library labels all checkboxes with the name of the first one.
  set(
    '#swagger-ui input[type=checkbox]',
    'aria-label',
    box => box.closest('label')?.textContent.trim() || nameOf(box),
  )
  // Scrollable elements must be reachable by keyboard.
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

// A link inside the button that opens an operation would be a second tab stop for the same action.
const withoutLinks = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement('span', null, text) },
})

// Sends requests to the host on which the page was opened, because the session cookie does not
// apply to other names of this service.
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
