import { ownBrand } from '../../src/config/brand.ts'
import { openBrand } from '../../src/http/brand.ts'

/** Satchel as it looks without settings. */
export const brand = openBrand(ownBrand).shown
