import type { Messages } from './en.ts'

/** Die Texte der Seiten eigener Konten auf Deutsch. */
export const de: Messages = {
  skip: 'Zum Inhalt springen',
  footer: 'Satchel: Dateien speichern und teilen.',
  home: 'Zur Startseite',
  back: 'Zurück',
  error_prefix: 'Fehler: ',
  show: 'Zeigen',
  hide: 'Verbergen',

  sign_in: 'Anmelden',
  sign_in_title: 'Bei Satchel anmelden',
  sign_in_lead: 'Verwenden Sie die E-Mail-Adresse und das Passwort Ihres Kontos hier.',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  name: 'Name',
  cancel: 'Abbrechen',

  first_title: 'Das erste Konto anlegen',
  first_lead:
    'Dieser Server ist neu. Das erste Konto verwaltet ihn: Es kann andere einladen und ihre Grenzen ändern.',
  create_account: 'Konto anlegen',
  new_password: 'Neues Passwort',
  password_hint: 'Mindestens 12 Zeichen. Mehrere ungewöhnliche Wörter sind gut.',
  name_hint: 'Wenn Sie nichts eingeben, wird der Name aus der Adresse gebildet.',

  not_set_up_title: 'Noch nicht eingerichtet',
  not_set_up:
    'Dieser Server hat noch kein Konto. In seinem Protokoll steht eine URL, die das erste anlegt. Sie gilt 24 Stunden; ein Neustart erzeugt eine neue.',

  link_gone_title: 'Dieser Link gilt nicht mehr',
  link_gone: 'Er wurde schon benutzt oder ist abgelaufen.',
  ended_title: 'Diese Anmeldung ist beendet',
  ended:
    'Sie hat zu lange gedauert oder wurde in einem anderen Browser begonnen. Beginnen Sie neu.',
  failed_title: 'Die Anmeldung ist fehlgeschlagen',
  failed: 'Etwas ist schiefgegangen. Beginnen Sie neu.',
  again: 'Neu anmelden',

  wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  too_many: 'Zu viele Versuche. Versuchen Sie es in {wait} wieder.',
  busy: 'Der Server ist ausgelastet. Versuchen Sie es in ein paar Sekunden wieder.',
  minutes: '{count} Minuten',
  seconds: '{count} Sekunden',
  refused: 'Das Konto kann jetzt nicht angelegt werden. Fragen Sie den Betreiber dieses Servers.',

  email_invalid: 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel alice@example.com.',
  name_long: 'Geben Sie einen Namen mit höchstens 200 Zeichen ein.',
  password_short: 'Geben Sie mindestens 12 Zeichen ein.',
  password_long: 'Geben Sie höchstens 128 Zeichen ein.',
  password_weak:
    'Dieses Passwort ist leicht zu erraten. Nehmen Sie mehr Wörter, oder Wörter, die nicht zusammengehören.',
  exists: 'Es gibt schon ein Konto mit dieser Adresse.',
}
