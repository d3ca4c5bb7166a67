const metaOf = (name: string) =>
  document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content ?? ''

/** How this installation presents itself: BRAND_NAME and BRAND_LOGO. */
export const brand = { name: metaOf('brand'), logo: metaOf('brand-logo') }

/** The pages of the operator, in the order of menus. Empty for pages that do not exist. */
export function operatorPages(): { help: string; imprint: string; privacy: string } {
  return JSON.parse(metaOf('brand-links'))
}
