import { brand } from '../parts/brand.ts'

/** The logo. */
export const Logo = () =>
  brand.logo ? (
    <img className="logo" src={brand.logo} alt="" />
  ) : (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M11 9V6h10v3" />
      <rect x="4" y="9" width="24" height="18" rx="3" />
      <path d="M4 13c0 4 5 6 12 6s12-2 12-6M16 17v5" />
    </svg>
  )
