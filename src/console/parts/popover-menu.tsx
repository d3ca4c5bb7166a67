import { Fragment } from 'react'
import { MenuItem as AriaItem, Menu, MenuSection, Popover, Separator } from 'react-aria-components'
import { Check } from './icons.ts'
import type { MenuEntry, MenuItem, MenuProps, OpenMenu } from './menu-entry.ts'

/** Splits the entries at the separators. */
function groupsOf(entries: readonly MenuEntry[]): MenuItem[][] {
  const groups: MenuItem[][] = [[]]
  for (const entry of entries)
    if (entry === 'separator') groups.push([])
    else groups.at(-1)?.push(entry)
  return groups.filter(group => group.length > 0)
}

const Item = ({ id, label, icon: Icon, keys, danger, isChosen, run }: MenuItem) => (
  <AriaItem
    id={id}
    className={`menu-item${danger ? ' danger' : ''}`}
    textValue={label}
    onAction={run}
  >
    {Icon ? <Icon aria-hidden /> : <span />}
    <span>{label}</span>
    {isChosen && <Check aria-hidden />}
    {keys && <kbd>{keys}</kbd>}
  </AriaItem>
)

/** The open menu. parts/menu.tsx loads it. */
export const PopoverMenu = (props: MenuProps & OpenMenu) => (
  <Popover
    className="popover"
    isOpen
    onOpenChange={open => open || props.onClose()}
    triggerRef={props.triggerRef}
    placement={props.placement ?? 'bottom end'}
    aria-label={props.label}
  >
    {props.header}
    <Menu className="menu" aria-label={props.label} autoFocus="first" onClose={props.onClose}>
      {groupsOf(props.entries).map((group, at) => {
        const items = group.map(item => <Item key={item.id} {...item} />)
        const chosen = group.filter(({ isChosen }) => isChosen).map(({ id }) => id)
        return (
          <Fragment key={group[0]?.id}>
            {at > 0 && <Separator className="menu-separator" />}
            {chosen.length > 0 ? (
              <MenuSection
                aria-label={props.label}
                selectionMode="single"
                selectedKeys={chosen}
                disallowEmptySelection
                shouldCloseOnSelect
              >
                {items}
              </MenuSection>
            ) : (
              items
            )}
          </Fragment>
        )
      })}
    </Menu>
  </Popover>
)
