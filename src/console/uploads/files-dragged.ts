/** Whether files of the computer are dragged or pasted, and not something of the page. */
export const hasFiles = (transfer: DataTransfer | null): transfer is DataTransfer =>
  transfer?.types.includes('Files') ?? false

/**
 * A browser leaves the page for a file that is dropped where nothing takes it, also while the
 * uploads are still being loaded.
 */
export function stayForDrops(): void {
  for (const type of ['dragover', 'drop'] as const)
    window.addEventListener(type, event => hasFiles(event.dataTransfer) && event.preventDefault())
}
