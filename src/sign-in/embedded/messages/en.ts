/** The texts of the pages of own accounts in English; the others have the same keys. */
export const en = {
  skip: 'Skip to the content',
  footer: 'Satchel: files, stored and shared.',
  home: 'Go to the start page',
  back: 'Back',
  error_prefix: 'Error: ',
  show: 'Show',
  hide: 'Hide',

  sign_in: 'Sign in',
  sign_in_title: 'Sign in to Satchel',
  sign_in_lead: 'Use the e-mail address and the password of your account here.',
  email: 'E-mail address',
  password: 'Password',
  name: 'Name',
  cancel: 'Cancel',

  first_title: 'Create the first account',
  first_lead:
    'This server is new. The first account manages it: it can invite other people and change their limits.',
  create_account: 'Create account',
  new_password: 'New password',
  password_hint: 'At least 12 characters. Several unusual words work well.',
  name_hint: 'If you leave this empty, the name is taken from the address.',

  not_set_up_title: 'Not set up yet',
  not_set_up:
    'This server has no account yet. Its log shows a URL that creates the first one. It is valid for 24 hours; a restart makes a new one.',

  link_gone_title: 'This link no longer works',
  link_gone: 'It was used already, or it has expired.',
  ended_title: 'This sign-in has ended',
  ended: 'It took too long, or it was started in another browser. Start again.',
  failed_title: 'The sign-in failed',
  failed: 'Something went wrong. Start again.',
  again: 'Sign in again',

  wrong: 'The e-mail address or the password is wrong.',
  too_many: 'Too many attempts. Try again in {wait}.',
  busy: 'The server is busy. Try again in a few seconds.',
  minutes: '{count} minutes',
  seconds: '{count} seconds',
  refused: 'The account cannot be created now. Ask the operator of this server.',

  email_invalid: 'Enter an e-mail address, such as alice@example.com.',
  name_long: 'Enter a name of at most 200 characters.',
  password_short: 'Enter at least 12 characters.',
  password_long: 'Enter at most 128 characters.',
  password_weak:
    'This password is easy to guess. Use more words, or words that do not belong together.',
  exists: 'There is an account with this address already.',
} as const

export type MessageKey = keyof typeof en
export type Messages = Record<MessageKey, string>
