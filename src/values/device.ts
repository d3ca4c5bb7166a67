import Bowser from 'bowser'
import { remembered } from '../runtime/remembered.ts'

/** The maximum length of a User-Agent that is parsed. */
const LONGEST_READ = 512
const LONGEST_LABEL = 200

/**
 * A description of a client for its user, such as "Firefox on Linux". The User-Agent is unverified,
 * and nothing depends on it.
 */
export const deviceOf = (userAgent: string | undefined): string =>
  labelOf((userAgent ?? '').slice(0, LONGEST_READ))

const labelOf = remembered(LONGEST_READ, text => {
  if (text.trim() === '') return 'Unknown device'
  const { browser, os } = Bowser.parse(text)
  // Programs begin with their name: "curl/8.5.0".
  const name = browser.name || (/^[\w.-]+/.exec(text)?.[0] ?? 'Unknown device')
  const label = os.name ? `${name} on ${os.name}` : name
  return label.replace(/[^\x20-\x7e]+/g, ' ').slice(0, LONGEST_LABEL)
})
