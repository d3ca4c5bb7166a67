/** The messages of the page for this script, in the language of the page. */
export type Texts = Record<
  | 'chooseFiles'
  | 'rowSent'
  | 'rowWaiting'
  | 'rowDetached'
  | 'rowPaused'
  | 'rowChecking'
  | 'rowOf'
  | 'rowSending'
  | 'rowCancelled'
  | 'pause'
  | 'resume'
  | 'tryAgain'
  | 'cancel'
  | 'tooLarge'
  | 'connectionLost'
  | 'serviceAway'
  | 'fileChanged'
  | 'noWorker',
  string
>

/** Fills in the values of a message. */
export const filled = (message: string, values: Record<string, string>): string =>
  message.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
