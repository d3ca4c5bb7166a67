import { useOffers } from '../../../shell/offers.ts'
import type { Commands } from '../commands.ts'
import { entriesMenu, folderMenu } from './menus.ts'

/** Offers the menu entries in the command palette. */
export function Offers({ commands }: { commands: Commands }) {
  useOffers(() => [...entriesMenu(commands, commands.selected), ...folderMenu(commands)])
  return null
}
