import { useEffect } from 'react'
import { sharedValue } from '../parts/shared-value.ts'
import type { Destination } from './uploads.ts'

/** The current folder, its display name, and whether the person may upload to it. */
export interface Place extends Destination {
  label: string
  mayUpload: boolean
}

const places = sharedValue<Place[]>([])

/**
 * Sets the target for drops while a screen is shown. The default is the root of the person's own
 * drive.
 */
export function useUploadPlace(place: Place | undefined): void {
  const { drive, share, folder, label, mayUpload } = place ?? {}
  useEffect(() => {
    if (
      drive === undefined ||
      folder === undefined ||
      label === undefined ||
      mayUpload === undefined
    )
      return
    const here = { drive, share, folder, label, mayUpload }
    places.set([...places.get(), here])
    return () => places.set(places.get().filter(other => other !== here))
  }, [drive, share, folder, label, mayUpload])
}

export const useShownPlace = (): Place | undefined => places.use().at(-1)
