import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'

/** Lets a form be answered by a passkey: the answer goes into its hidden field `passkey`. */
export function start(part: Element): void {
  if (!(part instanceof HTMLFormElement) || !browserSupportsWebAuthn()) return
  const form = part
  const button = form.querySelector<HTMLButtonElement>('[data-use]')
  const field = form.querySelector<HTMLInputElement>('[name=passkey]')
  if (!button || !field) return
  const optionsJSON = JSON.parse(form.dataset.options ?? '{}')

  const send = (answer: unknown) => {
    field.value = JSON.stringify(answer)
    form.submit()
  }
  // The person has closed the dialog of the browser, or another one has taken its place.
  const stay = () => {}

  button.hidden = false
  button.addEventListener('click', () => {
    const answered =
      form.dataset.passkey === 'create'
        ? startRegistration({ optionsJSON })
        : startAuthentication({ optionsJSON })
    answered.then(send, stay)
  })
  if (form.dataset.passkey !== 'get') return
  // The field of the address offers passkeys, without a click on anything else.
  browserSupportsWebAuthnAutofill().then(can => {
    if (can) startAuthentication({ optionsJSON, useBrowserAutofill: true }).then(send, stay)
  }, stay)
}
