import DataLoader from 'dataloader'
import type { Context } from '../src/context.ts'

/**
 * Gathers what sibling fields of a request ask for into one call, so that a list costs as many statements as one entry does.
 * Nothing is remembered: what comes after a mutation, or with the next event of a subscription, is read again.
 * @param load answers what there is for some keys, each of which it is given once. Fields with other arguments (anything that
 *   survives JSON) are loaded by themselves
 */
export function batch<Args extends unknown[], V>(
  load: (context: Context, keys: string[], ...args: Args) => Promise<ReadonlyMap<string, V>>,
): (context: Context, key: string, ...args: Args) => Promise<V | undefined> {
  const ofRequests = new WeakMap<Context, Map<string, DataLoader<string, V | undefined>>>()

  return (context, key, ...args) => {
    const loaders = ofRequests.get(context) ?? new Map<string, DataLoader<string, V | undefined>>()
    ofRequests.set(context, loaders)
    const name = JSON.stringify(args)
    const loader =
      loaders.get(name) ??
      new DataLoader(
        async (keys: readonly string[]) => {
          const found = await load(context, [...new Set(keys)], ...args)
          return keys.map(k => found.get(k))
        },
        { cache: false },
      )
    loaders.set(name, loader)
    return loader.load(key)
  }
}
