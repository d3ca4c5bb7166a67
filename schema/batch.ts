import DataLoader from 'dataloader'
import type { Caller } from '../src/access/caller.ts'
import type { Services } from '../src/services/index.ts'
import type { Context } from './context.ts'

/**
 * Batches the loads of sibling fields of a request into one call, so that a list needs no more
 * statements than one entry. Nothing is cached, because fields after a mutation, or of the next
 * event of a subscription, must be read again.
 * @param load loads the values of some distinct keys. Fields with different arguments (any JSON
 * values) are loaded separately
 */
export function batch<Args extends unknown[], V>(
  load: (context: Context, keys: string[], ...args: Args) => Promise<ReadonlyMap<string, V>>,
): (context: Context, key: string, ...args: Args) => Promise<V | undefined> {
  return (context, key, ...args) => {
    const loaders = (context.shared.loaders.get(load) ?? new Map()) as Map<
      string,
      DataLoader<string, V | undefined>
    >
    context.shared.loaders.set(load, loaders)
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

/** Loads each key by itself, in parallel, for values that no single statement can find. */
export const each = async <V>(
  keys: readonly string[],
  load: (key: string) => Promise<V>,
): Promise<Map<string, V>> =>
  new Map(await Promise.all(keys.map(async key => [key, await load(key)] as const)))

/** Like `batch`, for values that depend on the caller. Without a caller, nothing is found. */
export const batchSeen = <V>(
  load: (services: Services, caller: Caller, keys: string[]) => Promise<ReadonlyMap<string, V>>,
) =>
  batch(async ({ services, caller }, keys) =>
    caller ? load(services, caller, keys) : new Map<string, V>(),
  )
