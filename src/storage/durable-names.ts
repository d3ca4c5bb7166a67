const MAX_REMEMBERED = 1000

/**
 * Folders whose names are known to be durable. The set is bounded, because new folders keep coming.
 */
export class DurableNames extends Set<string> {
  override add(name: string): this {
    if (this.size >= MAX_REMEMBERED) this.clear()
    return super.add(name)
  }
}
