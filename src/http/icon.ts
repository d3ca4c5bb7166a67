/** The lines of the satchel icon, 32 wide and 32 high. */
export const satchel =
  '<path d="M11 9V6h10v3"/><rect x="4" y="9" width="24" height="18" rx="3"/><path d="M4 13c0 4 5 6 12 6s12-2 12-6M16 17v5"/>'

/** The satchel icon as SVG. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" width="28" viewBox="0 0 32 32" fill="none" stroke="#1f5fbf" stroke-width="2.5" ' +
  `stroke-linejoin="round">${satchel}</svg>`
