import type { ContainerClient } from '@azure/storage-blob'
import { judgeMarker, type Wanted } from './marker.ts'
import { within } from './request.ts'
import { ForeignStore, type Marker } from './store.ts'
import { requestLimit } from './time-limit.ts'

/* The label of a container is metadata of its own, beside which other programs may have theirs. */
const names = { installation: 'satchelinstallation', number: 'satchelstore' }

const metadataOf = (container: ContainerClient) =>
  within(
    requestLimit,
    undefined,
    async abortSignal => (await container.getProperties({ abortSignal })).metadata ?? {},
  )

/** Reads a container's label; undefined if it has none. */
export async function readLabel(container: ContainerClient): Promise<Marker | undefined> {
  const { [names.installation]: installation, [names.number]: number } = await metadataOf(container)
  return installation === undefined ? undefined : { installation, number: Number(number) }
}

async function writeLabel(
  container: ContainerClient,
  { installation, number }: Marker,
): Promise<void> {
  const label = { [names.installation]: installation, [names.number]: String(number) }
  const metadata = { ...(await metadataOf(container)), ...label }
  await within(requestLimit, undefined, abortSignal =>
    container.setMetadata(metadata, { abortSignal }),
  )
}

/**
 * Several services may share an account, and its operator names the container, so only moves of
 * blobs write labels. After a move, a container in use has a label. A container without one is the
 * abandoned source, or new.
 * @throws ForeignStore
 */
export async function bindContainer(
  container: ContainerClient,
  name: string,
  wanted: Wanted,
): Promise<void> {
  const there = await readLabel(container)
  if (!there && wanted.inUse && wanted.number > 0)
    throw new ForeignStore(
      `AZURE_STORAGE_CONTAINER: ${name} does not have all files, because they were moved to another store. Name that store`,
    )
  const isOther = there
    ? judgeMarker(there, wanted, `AZURE_STORAGE_CONTAINER: ${name}`, 'container')
    : wanted.number > 0 || wanted.isKnown
  if (isOther) await writeLabel(container, wanted)
}
