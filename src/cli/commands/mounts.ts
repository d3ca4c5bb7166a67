import type { Command } from 'commander'
import type { MountOptions } from '../actions/mount.ts'
import { declare, oneOf, perform } from '../command.ts'
import { Failure } from '../failure.ts'

const actions = () => import('../actions/mount.ts')

export function declareMounts(program: Command): void {
  const mount = declare(program, 'mount [path] [folder]', {
    does: 'mount a drive or a folder as a local folder; without arguments, list what is mounted',
    details: `Programs then work with the files as with local ones. Needs rclone with FUSE, or davfs2 as root; the command says what to
install. The mount stays until satchel unmount, or with --foreground until Ctrl-C. A written file is uploaded some
seconds after it is closed. What others change is seen within 15 seconds.
Uses the key of satchel login. For a session it makes a key, which satchel unmount deletes.
A path is one of your own folders (/ is all of them), or that of a workspace: garden:/plans.`,
    examples: [
      'mount / ~/Satchel',
      'mount --read-only garden:/plans ~/plans',
      'mount --foreground --with davfs2 /photos /mnt/photos',
      'mount',
      'unmount ~/Satchel',
    ],
  })
    .addOption(
      oneOf('--with <program>', 'the program that mounts; the best one by default', [
        'rclone',
        'davfs2',
      ]),
    )
    .option('--read-only', 'change nothing')
    .option('--foreground', 'stay until Ctrl-C, then unmount')
  mount.action((path: string | undefined, folder: string | undefined, options: MountOptions) =>
    perform(mount, async context => {
      const { list, mount: begin } = await actions()
      if (path === undefined) return list(context)
      if (folder === undefined)
        throw new Failure('USAGE', 'Give the local folder, too: satchel mount / ~/Satchel')
      return begin(context, path, folder, options)
    }),
  )

  const unmount = declare(program, 'unmount <folder>', {
    does: 'end a mount, once all files are uploaded',
    examples: ['unmount ~/Satchel', 'unmount --force ~/Satchel'],
  }).option('-f, --force', 'also while programs use it or files wait to be uploaded')
  unmount.action((folder: string, options: { force?: boolean }) =>
    perform(unmount, async context => (await actions()).unmount(context, folder, options)),
  )
}
