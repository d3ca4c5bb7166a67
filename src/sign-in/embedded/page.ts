import { createHash } from 'node:crypto'
import escapeHtml from 'escape-html'

/** Maximum lengths of an e-mail address and a name, in characters. */
const MAX_EMAIL = 254
const MAX_NAME = 200

/** The state of the form: the entered values and their error. */
export interface SignInForm {
  email: string
  name: string
  verified: boolean
  problem?: { field: 'email' | 'name' | 'word'; sentence: string }
}

const style = `
:root { color-scheme: light dark; --paper: #f4f5f7; --card: #fff; --ink: #1c2330; --soft: #545f70; --line: #828c9b;
  --accent: #1f5fbf; --on-accent: #fff; --wrong: #b3261e }
@media (prefers-color-scheme: dark) { :root { --paper: #12161d; --card: #1c222c; --ink: #e8ebf0; --soft: #a9b3c1;
  --line: #6d7889; --accent: #8ab4f8; --on-accent: #0f1a2b; --wrong: #ffb4ab } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 26rem; padding: 2rem; background: var(--card); border-radius: .75rem;
  box-shadow: 0 1px 4px rgb(0 0 0 / .2) }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0 0 1.25rem; color: var(--soft) }
label { display: block; font-weight: 600 }
.field { margin-bottom: 1.25rem }
.hint, .problem { margin: 0 0 .25rem; font-size: .9rem }
.problem { color: var(--wrong); font-weight: 600 }
input[type=email], input[type=text] { width: 100%; margin-top: .3rem; padding: .6rem .75rem; border: 1px solid var(--line);
  border-radius: .4rem; background: var(--card); color: inherit; font: inherit }
input[aria-invalid] { border-color: var(--wrong) }
.tick { display: flex; gap: .6rem; align-items: center }
.tick input { width: 1.2rem; height: 1.2rem; margin: 0; accent-color: var(--accent) }
.tick label { font-weight: 400 }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem }
button { padding: .6rem 1.25rem; border: 1px solid var(--accent); border-radius: .4rem; font: inherit;
  font-weight: 600; cursor: pointer; background: var(--accent); color: var(--on-accent) }
button.quiet { background: none; color: var(--accent) }
a { color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`

const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * Headers of every page of the sign-in.
 * @param formTargets origins that a submitted form may lead to: browsers hold the redirects after a
 * form against the policy, too
 */
export function pageHeaders(formTargets: string[]): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src 'sha256-${styleHash}'`,
      'img-src data:',
      `form-action ${["'self'", ...new Set(formTargets)].join(' ')}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  }
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Satchel</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

/**
 * The form; it is submitted to its own URL.
 * @param wordFile the file with the word that this browser must send, or null if the browser has
 * sent it before
 */
export function signInPage(
  { email, name, verified, problem }: SignInForm,
  wordFile: string | null,
): string {
  const first = wordFile ? 'word' : 'email'
  const field = (id: 'email' | 'name' | 'word', label: string, attributes: string, hint = '') => {
    const wrong = problem?.field === id
    const described = [hint && `${id}-hint`, wrong && `${id}-problem`].filter(Boolean).join(' ')
    const focus = (problem?.field ?? first) === id
    return `<div class="field">
<label for="${id}">${label}</label>
${hint && `<p class="hint" id="${id}-hint">${hint}</p>`}
${wrong ? `<p class="problem" id="${id}-problem" role="alert">${escapeHtml(problem.sentence)}</p>` : ''}
<input id="${id}" name="${id}" ${attributes}${described && ` aria-describedby="${described}"`}${wrong ? ' aria-invalid="true"' : ''}${focus ? ' autofocus' : ''}>
</div>`
  }
  return page(
    problem ? 'Error: Sign in' : 'Sign in',
    `<h1>Sign in to Satchel</h1>
<p>This sign-in works only on this computer and asks for no password. Use any e-mail address. The same address always
signs in to the same account.</p>
<form method="post">
${
  wordFile
    ? field(
        'word',
        'Sign-in word',
        'type="text" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false"',
        `Each browser must send it once. It is in the file <code>${escapeHtml(wordFile)}</code>`,
      )
    : ''
}
${field('email', 'E-mail address', `type="email" required maxlength="${MAX_EMAIL}" autocomplete="email" value="${escapeHtml(email)}"`)}
${field('name', 'Name', `type="text" maxlength="${MAX_NAME}" autocomplete="name" value="${escapeHtml(name)}"`, 'If you leave this empty, the name is taken from the address.')}
<div class="field tick">
<input id="verified" name="verified" type="checkbox" value="yes"${verified ? ' checked' : ''}>
<label for="verified">The e-mail address is verified</label>
</div>
<div class="buttons">
<button type="submit">Sign in</button>
<button type="submit" class="quiet" name="choice" value="cancel" formnovalidate>Cancel</button>
</div>
</form>`,
  )
}

/** Reads the submitted form: returns the address in lower case, or the error to show. */
export function readSignIn(sent: URLSearchParams): SignInForm {
  const text = (field: string) =>
    (sent.get(field) ?? '')
      .normalize('NFC')
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
  const typed = {
    email: text('email').toLowerCase(),
    name: text('name'),
    verified: sent.has('verified'),
  }
  const wrong = (field: 'email' | 'name', sentence: string) => ({
    ...typed,
    problem: { field, sentence },
  })
  if (
    typed.email.length > MAX_EMAIL ||
    !/^[^\s@<>()[\]",;:\\]+@[^\s@<>()[\]",;:\\]+$/.test(typed.email)
  )
    return wrong('email', 'Type an e-mail address, such as alice@example.com.')
  if (typed.name.length > MAX_NAME)
    return wrong('name', `Type a name of ${MAX_NAME} characters or fewer.`)
  return typed
}

/** A page with one message and a link back. */
export function messagePage(title: string, sentence: string, home: string): string {
  return page(
    title,
    `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(sentence)}</p>\n<a href="${escapeHtml(home)}">Back to Satchel</a>`,
  )
}
