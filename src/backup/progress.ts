/** What happens, for who watches. */
export interface Progress {
  /** Begins a step. @param total of its `add`: bytes and items; 0 if that is not known */
  step(name: string, total?: { items: number; bytes: number }): void
  add(items: number, bytes: number): void
  /** Something that the operator should know, in one sentence. */
  warn(message: string): void
}
