/** Receives the progress of a long command. */
export interface Progress {
  /**
   * Begins a step.
   * @param total the items and bytes that `add` will report; 0 if unknown
   */
  step(name: string, total?: { items: number; bytes: number }): void
  add(items: number, bytes: number): void
  /** Reports a fact that the operator should know, in one sentence. */
  warn(message: string): void
}
