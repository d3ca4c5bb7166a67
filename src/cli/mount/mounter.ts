import { constants } from 'node:fs'
import { Failure } from '../failure.ts'
import { findProgram, isUsable } from './mount-point.ts'
import type { Mounter } from './registry.ts'

const programs: Record<Mounter, string> = { rclone: 'rclone', davfs2: 'mount.davfs' }

const isRoot = () => process.getuid?.() === 0

/** How to install a missing program, by platform. */
const advice: Partial<Record<NodeJS.Platform, string>> = {
  darwin:
    'Install rclone from rclone.org (the one of Homebrew cannot mount) and macFUSE or FUSE-T. Without them, Finder mounts the same: Go, Connect to Server; docs/connect.md says how.',
  win32:
    'Install rclone and WinFsp (winget install Rclone.Rclone WinFsp.WinFsp). Without them, Explorer mounts the same: Map network drive; docs/connect.md says how.',
}
const LINUX =
  'Install rclone and fuse3 (Debian, Ubuntu: apt install rclone fuse3; Fedora: dnf install rclone fuse3).'

/**
 * The mount program: that of `--with`, else the best that is installed.
 *
 * @throws MOUNT_FAILED
 */
export async function chooseMounter(
  wanted: Mounter | undefined,
): Promise<{ mounter: Mounter; program: string }> {
  const missing = (what: string) =>
    new Failure('MOUNT_FAILED', `${what} ${advice[process.platform] ?? LINUX}`)
  const choices: Mounter[] = wanted ? [wanted] : isRoot() ? ['rclone', 'davfs2'] : ['rclone']
  for (const mounter of choices) {
    const program = await findProgram(programs[mounter])
    if (!program) continue
    if (mounter === 'davfs2' && !isRoot())
      throw new Failure(
        'MOUNT_FAILED',
        'davfs2 mounts for root only, unless /etc/fstab allows it. Use sudo, or --with rclone.',
      )
    await requireFuse()
    return { mounter, program }
  }
  throw missing(
    wanted ? `${programs[wanted]} is not installed.` : 'Nothing is installed that mounts WebDAV.',
  )
}

/** @throws MOUNT_FAILED */
async function requireFuse(): Promise<void> {
  if (process.platform !== 'linux') return
  const refused = (why: string) => new Failure('MOUNT_FAILED', why)
  if (!(await isUsable('/dev/fuse', constants.R_OK | constants.W_OK)))
    throw refused(
      'This system has no FUSE that you may use (/dev/fuse). Load the module: modprobe fuse. A container needs --device /dev/fuse and --cap-add SYS_ADMIN.',
    )
  if (!isRoot() && !(await findProgram('fusermount3')) && !(await findProgram('fusermount')))
    throw refused(`The program fusermount3 is missing. ${LINUX}`)
}
