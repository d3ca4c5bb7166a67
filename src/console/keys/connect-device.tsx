import './connect-device.css'
import { useState } from 'react'
import { graphql } from '../graphql/graphql.ts'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/command.tsx'
import { CopyField } from '../parts/copy-field.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FormDialog, TextField } from '../parts/form.tsx'
import { MAX_KEY_NAME } from '../parts/limits.ts'
import { useMe } from '../shell/me.ts'
import { davScopes } from './scopes.ts'
import { text } from './text.ts'

const CREATE_PASSWORD = graphql(`
  mutation CreateDavPassword($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      secret
    }
  }
`)

interface ConnectDeviceProps {
  workspace: { id: string; slug: string } | null
  /**
   * Called after the person has seen the password. A refetch of the keys may fail and would close
   * the dialog.
   */
  onCreated: () => void
  onClose: () => void
}

/**
 * Creates a WebDAV password for a device, and shows it once, with the address and user name to
 * paste.
 */
export function ConnectDevice({ workspace, onCreated, onClose }: ConnectDeviceProps) {
  const me = useMe()
  const [password, setPassword] = useState<string | null>(null)
  if (password !== null) {
    const address = `${location.origin}/dav/${workspace ? `workspaces/${workspace.slug}/` : ''}`
    const fields = [
      [text('connectAddress'), address],
      [text('connectUser'), me?.email ?? ''],
      [text('connectPassword'), password],
    ] as const
    const finish = () => {
      onClose()
      onCreated()
    }
    return (
      <Dialog
        title={text('connectMade')}
        isOpen
        isSticky
        onClose={finish}
        footer={
          <Button look="primary" onPress={finish}>
            {text('done')}
          </Button>
        }
      >
        <p>{text('connectOnce')}</p>
        {fields.map(([label, value]) => (
          <CopyField
            key={label}
            label={label}
            value={value}
            copyLabel={text('copyOf', { what: label })}
          />
        ))}
        <details className="connect-more">
          <summary>{text('connectWhere')}</summary>
          <ul>
            <li>{text('connectWindows')}</li>
            <li>{text('connectMac')}</li>
            <li>{text('connectLinux', { address: address.replace(/^http/, 'dav') })}</li>
            <li>{text('connectPhone')}</li>
          </ul>
          <Command
            title="rclone"
            command={`rclone config create satchel webdav url=${address} vendor=owncloud user=${inShell(me?.email ?? '')} pass=${password} --obscure`}
          />
        </details>
      </Dialog>
    )
  }
  return (
    <FormDialog
      title={text('connect')}
      label={text('connectCreate')}
      isDisabled={!me}
      onClose={onClose}
      onDone={() => {}}
      onSubmit={async form => {
        const { createApiKey } = await mutate(CREATE_PASSWORD, {
          input: {
            name: String(form.get('name')).trim(),
            scopes: [...davScopes(workspace !== null)],
            ...(workspace ? { workspace: workspace.id } : {}),
          },
        })
        setPassword(createApiKey?.secret ?? '')
      }}
    >
      <p>{text(workspace ? 'connectWorkspaceHint' : 'connectHint')}</p>
      <TextField
        label={text('name')}
        hint={text('connectNameHint')}
        name="name"
        defaultValue="WebDAV"
        required
        maxLength={MAX_KEY_NAME}
        autoFocus
      />
    </FormDialog>
  )
}

/** Quotes a word for a shell. */
const inShell = (word: string) =>
  /^[\w@.+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
