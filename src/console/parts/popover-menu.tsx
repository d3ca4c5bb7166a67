import { Menu, MenuItem, Popover, Separator } from 'react-aria-components'
import type { MenuProps, OpenMenu } from './menu.tsx'

/** The open menu of a button or of a point; parts/menu.tsx loads it. */
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
      {props.entries.map((entry, at) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: separators have nothing else
        if (entry === 'separator') return <Separator key={at} className="menu-separator" />
        const Icon = entry.icon
        return (
          <MenuItem
            key={entry.id}
            id={entry.id}
            className={`menu-item${entry.danger ? ' danger' : ''}`}
            textValue={entry.label}
            onAction={entry.run}
          >
            {Icon ? <Icon aria-hidden /> : <span />}
            <span>{entry.label}</span>
            {entry.keys && <kbd>{entry.keys}</kbd>}
          </MenuItem>
        )
      })}
    </Menu>
  </Popover>
)
